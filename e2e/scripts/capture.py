#!/usr/bin/env python3
"""Saves the body of one streamed chat completion exactly as it came, without
the chunked framing: the files of testdata/streams were made with it.

usage: capture.py BASE_URL OUT.txt [--body JSON] [--prompt TEXT]
                  [--max-tokens N] [--kill PID --after EVENTS]

With --kill, the process is ended with SIGKILL once that many events have come;
it must be one you started yourself.
"""

import argparse
import http.client
import json
import os
import signal
import sys
import urllib.parse


def arguments() -> argparse.Namespace:
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("url")
    p.add_argument("out")
    p.add_argument("--body", default="{}", help="fields that go over the defaults")
    p.add_argument("--prompt", default="Tell me")
    p.add_argument("--max-tokens", type=int, default=4)
    p.add_argument("--kill", type=int)
    p.add_argument("--after", type=int, default=3)
    return p.parse_args()


def read(response, args) -> tuple[bytes, str]:
    """Returns the bytes that came and, in words, how the body ended."""
    got = b""
    killed = False
    try:
        while chunk := response.read1(65536):
            got += chunk
            if args.kill and not killed and got.count(b"\n\n") >= args.after:
                os.kill(args.kill, signal.SIGKILL)
                killed = True
    except (http.client.IncompleteRead, ConnectionError) as e:
        return got + getattr(e, "partial", b""), repr(e)
    return got, "end of body"


def main() -> None:
    args = arguments()
    url = urllib.parse.urlsplit(args.url)
    body = {
        "model": "tiny",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": args.max_tokens,
        "messages": [{"role": "user", "content": args.prompt}],
    }
    body.update(json.loads(args.body))
    connection = http.client.HTTPConnection(url.netloc, timeout=30)
    connection.request(
        "POST",
        url.path.rstrip("/") + "/chat/completions",
        json.dumps({k: v for k, v in body.items() if v is not None}),
        {"Content-Type": "application/json"},
    )
    response = connection.getresponse()
    got, end = read(response, args)
    with open(args.out, "wb") as f:
        f.write(got)
    print(f"{args.out}: status {response.status}, {len(got)} bytes, {end}", file=sys.stderr)


if __name__ == "__main__":
    main()
