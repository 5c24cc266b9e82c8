// SPDX-License-Identifier: Apache-2.0
// kinformer.hpp - RAII and lambdas over <kinformer.h>, for C++17; header only.
//
//     using namespace std::chrono_literals;
//     kinformer::client client; // as kubectl would connect
//     kinformer::factory factory(client);
//     kinformer::informer pods = factory.informer(KI_CORE_V1_PODS);
//     kinformer::handler printing;
//     printing.on_add = [](const ki_event &e) { std::cout << ki_object_key(e.object) << '\n'; };
//     pods.add_handler(printing);
//     pods.add_index_path("node", KI_PATH_NODE);
//     factory.start();
//     factory.wait_for_sync(10s);
//     kinformer::object pod = pods.find_one("node", "worker-1");
//
// Each class has a get() for the pointer of the C interface, so all functions of <kinformer.h> can be used
// with it. Failures throw kinformer::error. Functions that are passed in are kept until their last call has
// returned; one that throws ends the program.
#ifndef KINFORMER_HPP
#define KINFORMER_HPP

#include <kinformer.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kinformer {

class error : public std::runtime_error {
public:
    explicit error(const ki_error &why) : std::runtime_error(why.message), why_(why) {}
    int code() const noexcept { return why_.code; }
    const ki_error &why() const noexcept { return why_; }

private:
    ki_error why_;
};

namespace detail {
// Calls function(&err), and throws what it reports.
template <typename Function> auto checked(Function &&function)
{
    ki_error why{};
    auto result = function(&why);
    if (why.code < 0)
        throw error(why);
    return result;
}

// Throws for a code that has no message of its own.
inline int check(int rc)
{
    ki_error why{};
    why.code = rc;
    if (rc < 0)
        std::string_view(ki_error_text(rc)).copy(why.message, sizeof(why.message) - 1);
    return rc < 0 ? throw error(why) : rc;
}

template <auto Free> struct deleter {
    template <typename T> void operator()(T *held) const noexcept { Free(held); }
};
template <typename Function> void release(void *user) noexcept { delete static_cast<Function *>(user); }
} // namespace detail

inline std::string_view view(ki_str text) { return {text.len == 0 ? "" : text.ptr, text.len}; }
inline ki_str str(std::string_view text) { return ki_str_from(text.data(), text.size()); }

// A reference to an object, or none; ref() takes another one.
using object = std::unique_ptr<ki_object, detail::deleter<ki_object_unref>>;
inline object ref(const ki_object *borrowed) { return object(ki_object_ref(borrowed)); }

// What is peeked at stays valid until the end of the scope.
struct read_section {
    read_section() { ki_read_lock(); }
    ~read_section() { ki_read_unlock(); }
    read_section(const read_section &) = delete;
    read_section &operator=(const read_section &) = delete;
};

struct handler {
    std::function<void(const ki_event &)> on_add{}, on_update{}, on_delete{};
    std::function<void()> on_synced{}, on_batch_end{};
};

class client {
public:
    explicit client(const ki_client_options &options = {})
        : held_(detail::checked([&](ki_error *err) { return ki_client_new(&options, err); }))
    {}
    ki_client *get() const noexcept { return held_.get(); }
    int fd() const noexcept { return ki_client_fd(get()); }
    // Returns whether work is left.
    bool dispatch(uint64_t budget_ms = 0) const
    {
        return detail::check(ki_client_dispatch(get(), budget_ms)) > 0;
    }

private:
    std::unique_ptr<ki_client, detail::deleter<ki_client_free>> held_;
};

// An informer of a factory. The factory must outlive it.
class informer {
public:
    explicit informer(ki_informer *borrowed) noexcept : held_(borrowed) {}
    ki_informer *get() const noexcept { return held_; }
    const ki_store *store() const noexcept { return ki_informer_store(held_); }
    object find(std::string_view ns, std::string_view name) const
    {
        return object(ki_store_get(store(), str(ns), str(name)));
    }
    object find_one(const char *index, std::string_view value) const
    {
        return object(ki_store_get_one(store(), index, str(value)));
    }

    // `options` has the rest: name, overflow, limits, resyncs. Its callbacks and `user` are replaced; a
    // `filter` stays, and must not use its `user`.
    ki_registration *add_handler(handler functions, ki_handler options = {}) const
    {
        auto kept = std::make_unique<handler>(std::move(functions));
        options.user = kept.get();
        options.on_add = on_event<&handler::on_add>;
        options.on_update = on_event<&handler::on_update>;
        options.on_delete = on_event<&handler::on_delete>;
        options.on_synced = on_moment<&handler::on_synced>;
        options.on_batch_end = on_moment<&handler::on_batch_end>;
        options.on_release = detail::release<handler>;
        auto add = [&](ki_error *err) { return ki_informer_add_handler(held_, &options, err); };
        ki_registration *added = detail::checked(add);
        (void)kept.release(); // on_release frees it
        return added;
    }

    void add_index_path(const char *name, const char *path) const
    {
        detail::check(ki_informer_add_index_path(held_, name, path));
    }

    // values(object, emit) calls emit(text) for each value of the object. `text` is a ki_str, or anything
    // that converts to std::string_view; it is copied.
    template <typename Values> void add_index(const char *name, Values values) const
    {
        auto kept = std::make_unique<Values>(std::move(values));
        detail::check(ki_informer_add_release(held_, detail::release<Values>, kept.get()));
        detail::check(ki_informer_add_index(held_, name, emit_values<Values>, kept.release()));
    }

private:
    template <auto Member> static void on_event(const ki_event *event, void *user) noexcept
    {
        if (const auto &function = static_cast<handler *>(user)->*Member)
            function(*event);
    }
    template <auto Member> static void on_moment(void *user) noexcept
    {
        if (const auto &function = static_cast<handler *>(user)->*Member)
            function();
    }
    template <typename Values>
    static int emit_values(const ki_object *indexed, ki_index_emit *emit, void *user) noexcept
    {
        // The store notices a value that cannot be added.
        (*static_cast<Values *>(user))(indexed, [emit](auto text) {
            if constexpr (std::is_same_v<decltype(text), ki_str>)
                (void)ki_index_emit_value(emit, text);
            else
                (void)ki_index_emit_value(emit, str(text));
        });
        return 0;
    }

    ki_informer *held_;
};

class factory {
public:
    explicit factory(const client &of, const ki_factory_options &options = {})
        : held_(ki_factory_new(of.get(), &options))
    {
        detail::check(held_ == nullptr ? KI_ERR_NO_MEMORY : 0);
    }
    ki_factory *get() const noexcept { return held_.get(); }
    class informer informer(const ki_resource &resource, const ki_informer_options *options = nullptr) const
    {
        ki_informer *made = ki_factory_informer(get(), &resource, options);
        if (made == nullptr)
            start(); // throws the reason; informers made before are started
        return kinformer::informer(made);
    }
    void start() const
    {
        detail::checked([&](ki_error *err) { return ki_factory_start(get(), err); });
    }
    void wait_for_sync(std::chrono::milliseconds timeout) const
    {
        auto ms = static_cast<uint64_t>(timeout.count());
        detail::checked([&](ki_error *err) { return ki_factory_wait_for_sync(get(), ms, err); });
    }

private:
    std::unique_ptr<ki_factory, detail::deleter<ki_factory_free>> held_;
};

} // namespace kinformer

#endif
