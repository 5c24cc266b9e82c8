# SPDX-License-Identifier: Apache-2.0
"""What Python programs do with an API server, against the embedded one. This client checks every answer against
its models.

    python client.py DEPLOYMENT KUBECONFIG

DEPLOYMENT is a file with one of the name "web". The server is a new one, with nothing in it.
"""
import sys
import threading
import time

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.rest import ApiException

NAMESPACE = "python"
GROUP = "python.example.com"
PATIENCE_S = 20
PAUSE_S = 0.02
WATCH_S = 10
PAGE = 5
OBJECTS = 12

checks = 0


def expect(what, got, expected):
    global checks
    checks += 1
    if got != expected:
        raise AssertionError(f"{what}: {got!r}, and not {expected!r}")


def refused(code, call, *arguments, **options):
    """The Status of what must be refused, as text."""
    try:
        call(*arguments, **options)
    except ApiException as error:
        expect(call.__name__, error.status, code)
        return error.body
    raise AssertionError(f"{call.__name__} is not refused")


def until(what, condition):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE_S} s: {what}")
        time.sleep(PAUSE_S)


def settings(name, **data):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels={"app": "x"}), data=data)


def change(core):
    made = core.create_namespaced_config_map(NAMESPACE, settings("a", x="1"))
    made.data["y"] = "2"
    expect("replaced", core.replace_namespaced_config_map("a", NAMESPACE, made).data, {"x": "1", "y": "2"})
    assert "the object has been modified" in refused(409, core.replace_namespaced_config_map, "a", NAMESPACE, made)
    assert "AlreadyExists" in refused(409, core.create_namespaced_config_map, NAMESPACE, settings("a"))
    assert "NotFound" in refused(404, core.read_namespaced_config_map, "b", NAMESPACE)
    patched = core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"x": None, "z": "3"}})
    expect("patched", patched.data, {"y": "2", "z": "3"})
    operations = [{"op": "add", "path": "/data/q", "value": "4"}]
    expect("JSON patch", core.patch_namespaced_config_map("a", NAMESPACE, operations).data["q"], "4")
    expect("nothing in it", core.create_namespaced_config_map(NAMESPACE, settings("empty")).data, None)
    core.delete_namespaced_config_map("empty", NAMESPACE)


def apply(core):
    def applied(manager, value):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}, "data": {"k": value}}
        return core.patch_namespaced_config_map(
            "b", NAMESPACE, body, field_manager=manager, _content_type="application/apply-patch+yaml")

    expect("applied", applied("one", "1").metadata.managed_fields[0].operation, "Apply")
    core.patch_namespaced_config_map("b", NAMESPACE, {"data": {"k": "2"}}, field_manager="two")
    expect("conflict", 'conflict with \\"two\\" using v1: .data.k' in refused(409, applied, "one", "1"), True)


def pages(core):
    for i in range(OBJECTS):
        core.create_namespaced_config_map(NAMESPACE, settings(f"page-{i:02}"))
    names, token = [], None
    while token is None or token:
        page = core.list_namespaced_config_map(NAMESPACE, limit=PAGE, _continue=token)
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue or ""
    expect("pages", names, ["a", "b"] + [f"page-{i:02}" for i in range(OBJECTS)])


def workloads(api, deployment):
    utils.create_from_yaml(api, deployment, namespace=NAMESPACE)
    apps = client.AppsV1Api(api)
    made = apps.read_namespaced_deployment("web", NAMESPACE)
    expect("default", made.spec.strategy.rolling_update.max_surge, "25%")
    scaled = apps.patch_namespaced_deployment_scale("web", NAMESPACE, {"spec": {"replicas": 4}})
    expect("scaled", scaled.spec.replicas, 4)
    told = apps.patch_namespaced_deployment_status("web", NAMESPACE, {"status": {"replicas": 4}})
    expect("status", (told.status.replicas, told.metadata.generation), (4, 2))
    resource = dynamic.DynamicClient(api).resources.get(api_version="apps/v1", kind="Deployment")
    expect("by name of its kind", resource.get(name="web", namespace=NAMESPACE).spec.replicas, 4)
    expect("scale", resource.scale.get(name="web", namespace=NAMESPACE).spec.replicas, 4)


def follow(core):
    def change_one():
        core.create_namespaced_config_map(NAMESPACE, settings("watched"))
        core.patch_namespaced_config_map("watched", NAMESPACE, {"data": {"a": "1"}})
        core.delete_namespaced_config_map("watched", NAMESPACE)

    version = core.list_namespaced_config_map(NAMESPACE).metadata.resource_version
    told, stream = [], watch.Watch()
    thread = threading.Thread(target=change_one)
    thread.start()
    for event in stream.stream(
            core.list_namespaced_config_map, NAMESPACE, resource_version=version, timeout_seconds=WATCH_S):
        told.append((event["type"], event["object"].metadata.name, event["object"].data))
        if event["type"] == "DELETED":
            stream.stop()
    thread.join()
    expect("watched", told, [("ADDED", "watched", None), ("MODIFIED", "watched", {"a": "1"}),
                             ("DELETED", "watched", {"a": "1"})])
    try:
        for event in stream.stream(core.list_namespaced_config_map, NAMESPACE, resource_version="1"):
            raise AssertionError(f"{event['type']} from a version that is gone")
    except ApiException as error:
        expect("too old", error.status, 410)


def definitions(api):
    extensions = client.ApiextensionsV1Api(api)
    name = f"bolts.{GROUP}"
    spec = {"type": "object", "properties": {"size": {"type": "integer", "default": 7}, "color": {"type": "string"}}}
    version = {"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
               "selectableFields": [{"jsonPath": ".spec.color"}],
               "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}
    names = {"plural": "bolts", "singular": "bolt", "kind": "Bolt", "listKind": "BoltList"}
    extensions.create_custom_resource_definition(
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
         "spec": {"group": GROUP, "scope": "Namespaced", "names": names, "versions": [version]}})
    until("a definition is established", lambda: any(
        condition.type == "Established" and condition.status == "True"
        for condition in extensions.read_custom_resource_definition(name).status.conditions or []))
    resource = dynamic.DynamicClient(api).resources.get(api_version=f"{GROUP}/v1", kind="Bolt")
    for color in ("red", "blue"):
        body = {"apiVersion": f"{GROUP}/v1", "kind": "Bolt", "metadata": {"name": color}, "spec": {"color": color}}
        expect("default of a schema", resource.create(body=body, namespace=NAMESPACE).spec.size, 7)
    found = resource.get(namespace=NAMESPACE, field_selector="spec.color=blue")
    expect("selected", [item.metadata.name for item in found.items], ["blue"])
    custom = client.CustomObjectsApi(api)
    where = (GROUP, "v1", NAMESPACE, "bolts", "red")
    assert "spec.size" in refused(422, custom.patch_namespaced_custom_object, *where, {"spec": {"size": "x"}})
    extensions.delete_custom_resource_definition(name)


def main():
    deployment, kubeconfig = sys.argv[1:]
    config.load_kube_config(kubeconfig)
    api = client.ApiClient()
    core = client.CoreV1Api(api)
    core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=NAMESPACE)))
    change(core)
    apply(core)
    pages(core)
    workloads(api, deployment)
    follow(core)
    definitions(api)
    core.delete_namespace(NAMESPACE)
    print(f"ok: the Python client behaves as with a cluster, {checks} checks")


main()
