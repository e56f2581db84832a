"""Stands in for kube-proxy: what a pod sends to one service address goes on to a port of this machine's loopback.

    python forward.py BRIDGE ADDRESS PORT=LOOPBACK_PORT…

It listens on the bridge alone, so that test beds side by side, which have the same service addresses, do not meet.
"""

import asyncio
import functools
import socket
import sys


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass  # one side went away: so does the other
    finally:
        writer.close()


async def _serve(target: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", target)
    except OSError:
        writer.close()
        return
    await asyncio.gather(_copy(reader, there_writer), _copy(there_reader, writer))


async def _main(bridge: str, address: str, ports: list[str]) -> None:
    servers = []
    for pair in ports:
        port, target = map(int, pair.split("="))
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, bridge.encode())
        listening.bind((address, port))
        servers.append(await asyncio.start_server(functools.partial(_serve, target), sock=listening))
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2], sys.argv[3:]))
