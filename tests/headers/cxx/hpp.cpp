// SPDX-License-Identifier: Apache-2.0
// kinformer.hpp against the embedded API server: handlers, indexes, lookups, errors, and the lifetimes of
// what lambdas capture. scripts/check_cxx.sh builds it with each compiler and standard, and runs it.
#include <kinformer.hpp>

#include <poll.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

using namespace std::chrono_literals;

namespace {

#define REQUIRE(condition) require((condition), #condition, __LINE__)
void require(bool is_so, const char *condition, int line)
{
    if (is_so)
        return;
    std::fprintf(stderr, "hpp.cpp:%d: failed: %s\n", line, condition);
    std::abort();
}

// Counts its copies, to check that captured values are destroyed.
struct counted {
    static inline std::atomic<int> alive{0};
    counted() { alive++; }
    counted(const counted &) { alive++; }
    counted &operator=(const counted &) = delete;
    ~counted() { alive--; }
};

struct server {
    std::unique_ptr<ki_apiserver, kinformer::detail::deleter<ki_apiserver_free>> held;

    server()
        : held(kinformer::detail::checked([](ki_error *err) { return ki_apiserver_start(nullptr, err); }))
    {}
    void put(const std::string &name, const std::string &node, const std::string &ip) const
    {
        std::string pod = R"({"metadata":{"namespace":"web","name":")" + name + R"("},"spec":{"nodeName":")" +
                          node + R"("},"status":{"podIPs":[{"ip":")" + ip + R"("}]}})";
        ki_error err{};
        REQUIRE(ki_apiserver_put(held.get(), &KI_CORE_V1_PODS, pod.c_str(), &err) == 0);
    }
    void put_namespace() const
    {
        ki_error err{};
        REQUIRE(ki_apiserver_put(held.get(), &KI_CORE_V1_NAMESPACES, R"({"metadata":{"name":"web"}})",
                                 &err) == 0);
    }
    ki_client_options options(ki_mode mode) const
    {
        ki_client_options made{};
        made.mode = mode;
        made.server = ki_apiserver_url(held.get());
        return made;
    }
};

// Dispatches until the condition holds; polls only the descriptor.
template <typename Condition> void run_until(const kinformer::client &client, Condition is_so)
{
    while (!is_so()) {
        pollfd polled{};
        polled.fd = client.fd();
        polled.events = POLLIN;
        REQUIRE(poll(&polled, 1, 60 * 1000) == 1);
        client.dispatch(1);
    }
}

void handlers_and_indexes_are_lambdas()
{
    server api;
    api.put_namespace();
    api.put("a", "n1", "10.0.0.1");
    int added = 0;
    int updated = 0;
    int deleted = 0;
    int synced = 0;
    int batches = 0;
    kinformer::object last;
    {
        kinformer::client client(api.options(KI_MODE_EVENT_LOOP));
        kinformer::factory factory(client);
        kinformer::informer pods = factory.informer(KI_CORE_V1_PODS);
        kinformer::handler counting;
        counting.on_add = [&added, captured = counted()](const ki_event &) { added++; };
        counting.on_update = [&updated](const ki_event &) { updated++; };
        counting.on_delete = [&](const ki_event &e) {
            deleted++;
            last = kinformer::ref(e.object);
        };
        counting.on_synced = [&synced] { synced++; };
        counting.on_batch_end = [&batches] { batches++; };
        ki_registration *registration = pods.add_handler(std::move(counting));
        pods.add_handler(kinformer::handler()); // no callback is set
        pods.add_index_path("node", KI_PATH_NODE);
        pods.add_index("ip", [captured = counted()](const ki_object *pod, auto emit) {
            for (std::string pointer : {"/status/podIPs/0/ip", "/status/podIPs/1/ip"})
                if (ki_str ip = ki_object_string(pod, pointer.c_str()); ip.len > 0) {
                    emit(ip);
                    emit(std::string(kinformer::view(ip)) + "/32");
                }
        });
        factory.start();
        factory.wait_for_sync(60s);
        run_until(client, [&] { return ki_registration_has_synced(registration) != 0 && batches > 0; });
        REQUIRE(added == 1 && synced == 1);

        kinformer::object a = pods.find("web", "a");
        REQUIRE(a != nullptr && kinformer::view(ki_object_name(a.get())) == "a");
        REQUIRE(pods.find_one("node", "n1") == a && pods.find_one("ip", std::string("10.0.0.1")) == a);
        REQUIRE(pods.find_one("ip", "10.0.0.1/32") == a);
        REQUIRE(pods.find_one("ip", "10.0.0.2") == nullptr && pods.find("web", "b") == nullptr);

        api.put("a", "n1", "10.0.0.2");
        run_until(client, [&] { return updated == 1; });
        {
            kinformer::read_section reading;
            REQUIRE(ki_store_peek_one(pods.store(), "ip", KI_STR("10.0.0.2")) != nullptr);
        }
        ki_error err{};
        REQUIRE(ki_apiserver_delete(api.held.get(), &KI_CORE_V1_PODS, "web", "a", &err) == 0);
        run_until(client, [&] { return deleted == 1; });
        REQUIRE(kinformer::view(ki_object_string(last.get(), "/status/podIPs/0/ip")) == "10.0.0.2");
        REQUIRE(counted::alive == 2);
    }
    REQUIRE(counted::alive == 0);
}

void a_removed_handler_is_destroyed()
{
    server api;
    kinformer::client client(api.options(KI_MODE_THREADS));
    kinformer::factory factory(client);
    kinformer::informer pods = factory.informer(KI_CORE_V1_PODS);
    kinformer::handler functions;
    functions.on_add = [captured = counted()](const ki_event &) {};
    ki_registration *registration = pods.add_handler(std::move(functions));
    factory.start();
    factory.wait_for_sync(60s);
    REQUIRE(counted::alive == 1);
    REQUIRE(ki_registration_remove_and_wait(registration) == 0);
    REQUIRE(counted::alive == 0);
}

// Runs a function that must throw, and returns the error.
template <typename Function> kinformer::error thrown_by(Function function)
{
    try {
        function();
    } catch (const kinformer::error &error) {
        return error;
    }
    require(false, "an error was thrown", __LINE__);
    std::abort();
}

void failures_are_thrown()
{
    ki_client_options nowhere{};
    nowhere.kubeconfig = "/nowhere";
    kinformer::error error = thrown_by([&] { kinformer::client client(nowhere); });
    REQUIRE(error.code() == KI_ERR_CONFIG && std::string(error.what()).find("/nowhere") != std::string::npos);

    server api;
    kinformer::client threads(api.options(KI_MODE_THREADS));
    REQUIRE(thrown_by([&] { threads.dispatch(); }).code() == KI_ERR_INVALID);
    kinformer::factory factory(threads);
    ki_informer_options options{};
    options.label_selector = "=";
    error = thrown_by([&] { factory.informer(KI_CORE_V1_PODS, &options); });
    REQUIRE(std::string(error.why().message).find("selector") != std::string::npos);

    kinformer::informer pods = factory.informer(KI_CORE_V1_NODES);
    pods.add_index_path("node", KI_PATH_NODE);
    REQUIRE(thrown_by([&] { pods.add_index_path("node", KI_PATH_NODE); }).code() == KI_ERR_INVALID);
    ki_handler resyncs{};
    resyncs.resync_ms = 1000;
    kinformer::handler functions;
    functions.on_synced = [captured = counted()] {};
    error = thrown_by([&] { pods.add_handler(functions, resyncs); });
    REQUIRE(std::string(error.what()).find("resync_ms") != std::string::npos);
    REQUIRE(counted::alive == 1); // that of `functions`; the copy of the refused handler is gone
    REQUIRE(thrown_by([&] { factory.start(); }).code() == KI_ERR_INVALID);
}

} // namespace

int main()
{
    handlers_and_indexes_are_lambdas();
    a_removed_handler_is_destroyed();
    failures_are_thrown();
    REQUIRE(counted::alive == 0);
    std::puts("kinformer.hpp: ok");
}
