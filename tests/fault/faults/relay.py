"""Unix sockets between node daemons and controllers. Nothing passes those of a node that is cut off: connections stay open, new ones are
accepted and never answered, and what was sent meanwhile arrives when the node is back, as in a network that lost its way for a time."""
import asyncio
import contextlib
import pathlib
import threading

SIZE = 1 << 16


class Relay:
    def __init__(self, folder, nodes, controllers):
        """`controllers`: paths of their sockets. Sockets for nodes are made in `folder`."""
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.controllers = [str(path) for path in controllers]
        self.gates = {node: asyncio.Event() for node in nodes}
        self.writers = {node: set() for node in nodes}
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.ready = threading.Event()
        self.thread.start()
        self.ready.wait()

    def path(self, node, number):
        return self.folder / f"{node}.{number}"

    def cut(self, node):
        self.loop.call_soon_threadsafe(self.gates[node].clear)

    def join(self, node, reset):
        """`reset`: its connections are closed first, with what is in them."""
        def act():
            if reset:
                for writer in self.writers[node]:
                    writer.transport.abort()
            self.gates[node].set()
        self.loop.call_soon_threadsafe(act)

    def close(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def _run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self._listen())
        self.ready.set()
        self.loop.run_forever()

    async def _listen(self):
        for node, gate in self.gates.items():
            gate.set()
            for number, controller in enumerate(self.controllers):
                await asyncio.start_unix_server(self._serve(node, gate, controller), str(self.path(node, number)))

    def _serve(self, node, gate, controller):
        async def serve(reader, writer):
            self.writers[node].add(writer)
            other = None
            try:
                await gate.wait()
                upstream, other = await asyncio.open_unix_connection(controller)
                self.writers[node].add(other)
                await asyncio.gather(self._pump(gate, reader, other), self._pump(gate, upstream, writer))
            except OSError:
                pass
            finally:
                for one in (writer, other):
                    if one:
                        self.writers[node].discard(one)
                        one.close()
        return serve

    @staticmethod
    async def _pump(gate, reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(SIZE):
                await gate.wait()
                writer.write(data)
                await writer.drain()
        await gate.wait()
        writer.close()
