// SPDX-License-Identifier: Apache-2.0
// kinformer.hpp - RAII and lambdas over <kinformer.h>, for C++17; header only.
//
//     kinformer::client client;                                  // as kubectl would connect
//     kinformer::factory factory(client);
//     kinformer::informer pods = factory.informer(KI_CORE_V1_PODS);
//     pods.add_handler({.on_add = [](const ki_event &e) { std::cout << ki_object_key(e.object) << '\n'; }});
//     factory.start();
//     factory.wait_for_sync(10s);
//
// Each class owns one object of the C interface and gives it with get(), so all functions of <kinformer.h> can
// be used beside it. What fails throws kinformer::error. Functions that are passed in are kept until their last
// call has returned; they must not throw.
#ifndef KINFORMER_HPP
#define KINFORMER_HPP

#include <kinformer.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
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
// Calls function(..., &err), and throws what it reports.
template <typename Function> auto checked(Function &&function)
{
    ki_error why{};
    auto result = function(&why);
    if (why.code < 0)
        throw error(why);
    return result;
}

inline void check(int rc)
{
    if (rc >= 0)
        return;
    ki_error why{};
    why.code = rc;
    std::string(ki_error_text(rc)).copy(why.message, sizeof(why.message) - 1);
    throw error(why);
}

template <auto Free> struct deleter {
    template <typename T> void operator()(T *object) const noexcept { Free(object); }
};

template <typename T, auto Free> using owned = std::unique_ptr<T, deleter<Free>>;

template <typename Function> void release(void *user) { delete static_cast<Function *>(user); }

inline uint64_t milliseconds(std::chrono::milliseconds time) { return static_cast<uint64_t>(time.count()); }
} // namespace detail

inline std::string_view view(ki_str text) { return {text.ptr == nullptr ? "" : text.ptr, text.len}; }
inline ki_str str(std::string_view text) { return {text.data(), text.size()}; }

// A reference to an object; copies are further references.
class object {
public:
    object() = default;
    explicit object(const ki_object *borrowed) : held_(ki_object_ref(borrowed)) {}
    static object adopt(ki_object *reference)
    {
        object taken;
        taken.held_ = reference;
        return taken;
    }
    object(const object &other) : held_(ki_object_ref(other.held_)) {}
    object(object &&other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
    object &operator=(object other) noexcept
    {
        std::swap(held_, other.held_);
        return *this;
    }
    ~object() { ki_object_unref(held_); }
    explicit operator bool() const noexcept { return held_ != nullptr; }
    const ki_object *get() const noexcept { return held_; }
    std::string_view key() const { return view(ki_object_key_str(held_)); }
    std::string_view name() const { return view(ki_object_name(held_)); }
    std::string_view string(const char *pointer) const { return view(ki_object_string(held_, pointer)); }

private:
    ki_object *held_ = nullptr;
};

// What is peeked at stays valid until the end of the scope.
class read_section {
public:
    read_section() { ki_read_lock(); }
    ~read_section() { ki_read_unlock(); }
    read_section(const read_section &) = delete;
    read_section &operator=(const read_section &) = delete;
};

struct handler {
    std::function<void(const ki_event &)> on_add{};
    std::function<void(const ki_event &)> on_update{};
    std::function<void(const ki_event &)> on_delete{};
    std::function<void()> on_synced{};
    std::function<void()> on_batch_end{};
};

class client {
public:
    client() : client(ki_client_options{}) {}
    explicit client(const ki_client_options &options)
        : held_(detail::checked([&](ki_error *err) { return ki_client_new(&options, err); }))
    {
    }
    ki_client *get() const noexcept { return held_.get(); }
    int fd() const noexcept { return ki_client_fd(get()); }
    bool dispatch(uint64_t budget_ms = 0) const // true: work is left
    {
        int rc = ki_client_dispatch(get(), budget_ms);
        detail::check(rc);
        return rc > 0;
    }

private:
    detail::owned<ki_client, ki_client_free> held_;
};

// An informer of a factory, which must outlive it.
class informer {
public:
    explicit informer(ki_informer *borrowed) noexcept : held_(borrowed) {}
    ki_informer *get() const noexcept { return held_; }
    ki_store *store() const noexcept { return ki_informer_store(held_); }
    bool has_synced() const noexcept { return ki_informer_has_synced(held_) != 0; }
    object find(std::string_view ns, std::string_view name) const
    {
        return object::adopt(ki_store_get(store(), str(ns), str(name)));
    }

    // `options` has everything but the callbacks: overflow, limits, resyncs.
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
        auto *added =
            detail::checked([&](ki_error *err) { return ki_informer_add_handler(held_, &options, err); });
        (void)kept.release(); // on_release frees it
        return added;
    }

    // values(object, emit) calls emit(text) for each value of the object.
    template <typename Values> void add_index(const char *name, Values values) const
    {
        auto kept = std::make_unique<Values>(std::move(values));
        detail::check(ki_informer_add_release(held_, detail::release<Values>, kept.get()));
        Values *user = kept.release();
        detail::check(ki_informer_add_index(held_, name, emit_values<Values>, user));
    }

private:
    template <auto Member> static void on_event(const ki_event *event, void *user)
    {
        const auto &function = static_cast<handler *>(user)->*Member;
        if (function)
            function(*event);
    }
    template <auto Member> static void on_moment(void *user)
    {
        const auto &function = static_cast<handler *>(user)->*Member;
        if (function)
            function();
    }
    template <typename Values>
    static int emit_values(const ki_object *object, ki_index_emit *emit, void *user)
    {
        int rc = 0;
        (*static_cast<Values *>(user))(object, [&](std::string_view text) {
            rc = rc < 0 ? rc : ki_index_emit_value(emit, str(text));
        });
        return rc;
    }

    ki_informer *held_;
};

class factory {
public:
    explicit factory(const client &of, const ki_factory_options &options = {})
        : held_(ki_factory_new(of.get(), &options))
    {
        if (held_ == nullptr)
            detail::check(KI_ERR_NO_MEMORY);
    }
    ki_factory *get() const noexcept { return held_.get(); }
    class informer informer(const ki_resource &resource, const ki_informer_options *options = nullptr) const
    {
        return kinformer::informer(ki_factory_informer(get(), &resource, options)); // start() reports errors
    }
    void start() const
    {
        (void)detail::checked([&](ki_error *err) { return ki_factory_start(get(), err); });
    }
    void wait_for_sync(std::chrono::milliseconds timeout) const
    {
        uint64_t ms = detail::milliseconds(timeout);
        (void)detail::checked([&](ki_error *err) { return ki_factory_wait_for_sync(get(), ms, err); });
    }

private:
    detail::owned<ki_factory, ki_factory_free> held_;
};

} // namespace kinformer

#endif
