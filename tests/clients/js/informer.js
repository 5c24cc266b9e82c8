// SPDX-License-Identifier: Apache-2.0

// Follows the embedded API server with the JavaScript client's informer, through cuts and compactions. That client requires
// TLS.
//
//     node informer.js KUBECONFIG
import https from 'node:https';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import * as k8s from '@kubernetes/client-node';

const namespace = 'js-informer';
const objects = 30;
const patienceMs = 20000;
const pauseMs = 10;
const restartMs = 50;

const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[2]);
const core = config.makeApiClient(k8s.CoreV1Api);
const seen = { added: 0, updated: 0, deleted: 0, lists: 0 };
let isStopped = false;

async function until(what, condition) {
    for (const end = Date.now() + patienceMs; Date.now() < end; await pause(pauseMs)) {
        if (condition()) {
            console.log('ok:', what);
            return;
        }
    }
    throw new Error(`not within ${patienceMs} ms: ${what}; seen ${JSON.stringify(seen)}`);
}

function assert(condition, what) {
    if (!condition) throw new Error(what);
}

// POST or DELETE of /debug/…, which is not part of Kubernetes. The request that cuts all connections may get no response.
function debug(method, path, body = '') {
    const cluster = config.getCurrentCluster();
    const address = new URL(`/debug/${path}`, cluster.server);
    const headers = {
        Authorization: `Bearer ${config.getCurrentUser().token}`,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
    };
    const options = { method, headers, agent: false, ca: Buffer.from(cluster.caData, 'base64') };
    return new Promise((resolve, reject) => {
        const request = https.request(address, options, (response) => {
            response.resume();
            response.on('error', () => {});
            if (response.statusCode === 200 || path === 'cut') resolve();
            else reject(new Error(`${method} /debug/${path}: ${response.statusCode}`));
        });
        request.on('error', (error) => (path === 'cut' ? resolve() : reject(error)));
        request.end(body);
    });
}

// A kept connection that was cut fails when it is used again.
async function again(call) {
    try {
        return await call();
    } catch (error) {
        if (error.code === undefined || typeof error.code === 'number') throw error;
        return call();
    }
}

// ---- writing ----

function create(name, value) {
    return core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { value } } });
}

async function update(name, value) {
    const object = await again(() => core.readNamespacedConfigMap({ namespace, name }));
    object.data = { value };
    return core.replaceNamespacedConfigMap({ namespace, name, body: object });
}

function remove(name) {
    return core.deleteNamespacedConfigMap({ namespace, name });
}

// ---- scenarios ----

// An error ends the informer, and the program has to start it again, as its documentation says.
function makeInformer() {
    const list = () => {
        seen.lists++;
        return core.listNamespacedConfigMap({ namespace });
    };
    const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
    informer.on('add', () => seen.added++);
    informer.on('update', () => seen.updated++);
    informer.on('delete', () => seen.deleted++);
    informer.on('error', async () => {
        await pause(restartMs);
        if (!isStopped) informer.start();
    });
    return informer;
}

async function run() {
    const informer = makeInformer();
    const valueOf = (name) => informer.get(name, namespace)?.data.value;
    await core.createNamespace({ body: { metadata: { name: namespace } } });
    for (let i = 0; i < objects; i++) await create(`object-${i}`, 'first');
    await informer.start();
    await until("JavaScript's informer syncs", () => seen.added === objects && informer.list().length === objects);

    await create('new', 'first');
    await update('object-1', 'second');
    await remove('object-2');
    await until('it hears of an addition, an update and a deletion', () =>
        seen.added === objects + 1 && seen.deleted === 1 && valueOf('object-1') === 'second');

    let lists = seen.lists;
    await debug('POST', 'cut');
    await update('object-3', 'after the cut');
    await remove('object-4');
    await until('it comes back after a cut', () =>
        valueOf('object-3') === 'after the cut' && valueOf('object-4') === undefined);
    assert(seen.lists === lists, 'it has listed again, although the history was there');

    await debug('POST', 'faults', '{"action": "status", "on": ["watch", "streamed-list"], "code": 503}');
    await debug('POST', 'cut');
    await update('object-5', 'compacted');
    await remove('object-6');
    await create('another', 'compacted');
    await debug('POST', 'compact');
    await debug('DELETE', 'faults');
    await until('it lists again after a compaction', () => seen.lists > lists &&
        valueOf('object-5') === 'compacted' && valueOf('object-6') === undefined && valueOf('another') === 'compacted');

    const line = ({ metadata, data }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion} ${data.value}`;
    const summary = (all) => all.map(line).sort().join('\n');
    const served = (await core.listNamespacedConfigMap({ namespace })).items;
    assert(served.length === objects - 1, `${served.length} objects instead of ${objects - 1}`);
    await until('its cache is what the server has', () => summary(informer.list()) === summary(served));
    isStopped = true;
    await informer.stop();
}

try {
    await run();
    process.exit(0);
} catch (error) {
    console.error('clients:', error.message);
    process.exit(1);
}
