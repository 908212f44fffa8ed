"""``python -m tiered_eval.testing.loopback``: serve until told to stop; the first line printed is JSON."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys

from tiered_eval.testing.loopback.server import serve_loopback
from tiered_eval.testing.loopback.settings import FAULTS, ITEM_FAULTS, LoopbackSettings


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tiered_eval.testing.loopback", description="A model provider on this machine."
    )
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--shape", choices=["constant", "lognormal"], default="constant")
    parser.add_argument("--sigma", type=float, default=0.5, help="of the lognormal")
    parser.add_argument("--requests-per-minute", type=int, metavar="N")
    parser.add_argument("--tokens-per-minute", type=int, metavar="N")
    parser.add_argument("--burst", type=float, metavar="N", help="requests that may pile up")
    parser.add_argument(
        "--retry-after", choices=["seconds", "milliseconds", "date", "none"], default="seconds"
    )
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="NAME=SHARE",
        help=f"may be repeated; names: {', '.join(FAULTS)}",
    )
    parser.add_argument("--script", default="", metavar="NAME,...", help="faults of the first calls")
    parser.add_argument("--pass-share", type=float, default=1.0)
    parser.add_argument("--reasoning-tokens", type=int, default=0)
    parser.add_argument("--input-price", type=int, default=100_000, metavar="PICO", help="a token")
    parser.add_argument("--output-price", type=int, default=500_000, metavar="PICO", help="a token")
    parser.add_argument("--cache-read-percent", type=int, default=10, metavar="PERCENT", help="of input")
    parser.add_argument("--batch-delay", type=float, default=0.0, metavar="SECONDS")
    parser.add_argument("--batch-expires", type=float, default=86_400.0, metavar="SECONDS")
    parser.add_argument(
        "--batch-script", default="", metavar="NAME,...", help="of the first requests about batches"
    )
    parser.add_argument(
        "--item-fault",
        action="append",
        default=[],
        metavar="NAME=SHARE",
        help=f"of items of batches; names: {', '.join(ITEM_FAULTS)}",
    )
    parser.add_argument("--item-script", default="", metavar="NAME,...", help="faults of the first items")
    parser.add_argument("--api-key", help="refuse any other")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--until-stdin-closes", action="store_true")
    return parser.parse_args(arguments)


def settings_from(arguments: argparse.Namespace) -> LoopbackSettings:
    return LoopbackSettings(
        latency_s=arguments.latency,
        latency_shape=arguments.shape,
        latency_sigma=arguments.sigma,
        requests_per_minute=arguments.requests_per_minute,
        tokens_per_minute=arguments.tokens_per_minute,
        burst=arguments.burst,
        retry_after=arguments.retry_after,
        fault_rates=_shares(arguments.fault),
        script=_names(arguments.script),
        pass_share=arguments.pass_share,
        reasoning_tokens=arguments.reasoning_tokens,
        input_price_pico=arguments.input_price,
        output_price_pico=arguments.output_price,
        cache_read_percent=arguments.cache_read_percent,
        batch_delay_s=arguments.batch_delay,
        batch_expires_s=arguments.batch_expires,
        batch_script=_names(arguments.batch_script),
        item_fault_rates=_shares(arguments.item_fault),
        item_script=_names(arguments.item_script),
        api_key=arguments.api_key,
        seed=arguments.seed,
    )


def _shares(faults: list[str]) -> dict[str, float]:
    pairs = [fault.split("=", 1) for fault in faults]
    return {name: float(share) for name, share in pairs}


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)


async def serve(arguments: argparse.Namespace) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    if arguments.until_stdin_closes:
        loop.add_reader(sys.stdin.fileno(), _stop_at_end_of_input, stopped)
    async with serve_loopback(settings_from(arguments), port=arguments.port) as server:
        sys.stdout.write(json.dumps({"port": server.port, "url": server.url}) + "\n")
        sys.stdout.flush()
        await stopped.wait()


def _stop_at_end_of_input(stopped: asyncio.Event) -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        stopped.set()


if __name__ == "__main__":
    asyncio.run(serve(parse_arguments(sys.argv[1:])))
