"""An agent that speaks the Agent Client Protocol and does what its argument says; for a sandbox."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

ID = "0b8e5a3c-1f5e-4c1a-9a44-7f6a4f6f2d10"
asked = 100
offered = []


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def update(what, **more):
    params = {"sessionId": ID, "update": {"sessionUpdate": what, **more}}
    send({"method": "session/update", "params": params})


def say(text):
    update("agent_message_chunk", content={"type": "text", "text": text})


def hear():
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit(0)


def ask(method, params):
    """Ask the client something, and show what it answers."""
    global asked
    asked += 1
    send({"id": asked, "method": method, "params": params})
    while (answer := hear()).get("id") != asked or "method" in answer:
        pass
    return answer


def use(command, call="c1", kind="execute"):
    """Run a command as a tool."""
    update("tool_call", toolCallId=call, title=command, kind=kind, status="in_progress")
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    status = "failed" if done.returncode else "completed"
    shown = [{"type": "content", "content": {"type": "text", "text": done.stdout}}]
    update("tool_call_update", toolCallId=call, status=status, content=shown)


def permission(options):
    call = {"toolCallId": "c1", "title": "rm -rf"}
    params = {"sessionId": ID, "toolCall": call, "options": options}
    return ask("session/request_permission", params)


ALLOW = {"optionId": "yes", "name": "Yes", "kind": "allow_once"}
ALWAYS = {"optionId": "always", "name": "Always", "kind": "allow_always"}
NEVER = {"optionId": "no", "name": "No", "kind": "reject_once"}


def write(name, value):
    with open(name, "w") as file:
        json.dump(value, file)


def flood():
    while True:
        say("x" * 100)


def prompt(mode, said):
    """What is done in the turn; its stop reason."""
    if mode.startswith("run "):
        say("On it.")
        use(mode.removeprefix("run "))
        say("Done.")
    elif mode == "prompt":
        write("told.json", said)
        say(json.dumps(dict(os.environ)))
    elif mode == "servers":
        say(json.dumps(offered))
    elif mode == "ask":
        answers = [permission([NEVER, ALWAYS, ALLOW]), permission([NEVER])]
        for method in ("fs/read_text_file", "terminal/create", "elicitation/create", "_mine", "x"):
            answers.append(ask(method, {"path": "/etc/passwd", "command": "id"}))
        answers.append(ask("session/request_permission", ["none"]))
        write("answers.json", answers)
    elif mode == "noise":
        for line in ("no json", '{"jsonrpc": "2.0"', "[1]", "null", '"text"', "{}", "[" * 5000):
            sys.stdout.write(line + "\n")
        send({"id": 77, "result": {}})
        send({"id": [1], "result": {}})
        send({"id": {"a": 1}, "method": "x"})
        send({"id": None, "result": {}})
        send({"id": 2, "error": "a text"})
        send({"method": 7, "params": {}})
        send({"method": "session/update"})
        send({"method": "session/update", "params": {"update": {"sessionUpdate": "dance"}}})
        send({"method": "session/dance", "params": {}})
        update("plan", entries=[])
        update("tool_call_update", toolCallId="late", status="completed", rawOutput={"stdout": "o"})
        update("tool_call_update", toolCallId="late", status="completed")
        update("agent_message_chunk", content={"type": "image"})
        update("agent_message_chunk", content="\ud800")
        sys.stderr.write("a word on stderr\n")
        use("echo changed >> file.txt")
        say("Done.")
    elif mode == "large":
        say("y" * 5_000_000)
        use("echo changed >> file.txt")
    elif mode == "half":
        sys.stdout.write('{"jsonrpc": "2.0", "id": 2, "resu')
        sys.stdout.flush()
        os._exit(0)
    elif mode == "exit":
        os._exit(3)
    elif mode == "hang":
        time.sleep(3600)
    elif mode == "flood":
        flood()
    elif mode == "drip":
        while True:
            say("x")
            time.sleep(0.1)
    elif mode in ("mutter", "complain"):
        while True:
            print("still here", file=sys.stdout if mode == "mutter" else sys.stderr, flush=True)
            time.sleep(0.1)
    elif mode == "beg":
        while True:  # and never reads what it is answered
            send({"id": 5, "method": "fs/read_text_file" + "x" * 500, "params": {}})
    elif mode == "vain":
        for number in range(3):
            use("exit 1", f"c{number}")
    elif mode == "unanswered":
        body = json.dumps({"model": "not-let-through", "messages": []}).encode()
        key = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
        url = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
        try:
            urllib.request.urlopen(urllib.request.Request(url, body, key))
        except urllib.error.HTTPError as error:
            say(f"There is nothing to be done ({error.code}).")
    elif mode == "error":
        raise RuntimeError("out of ideas")
    return {"max_tokens", "max_turn_requests", "refusal", "cancelled", "dreamt"} & {mode}


def answer(mode, message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        write("/tmp/initialize.json", params)
        able = {"loadSession": mode != "forgetful", "mcpCapabilities": {"http": True}}
        version = 9 if mode == "version" else 1
        who = {"name": "fake", "version": "1.0"}
        return {"protocolVersion": version, "agentCapabilities": able, "agentInfo": who}
    if method == "session/new":
        if mode == "login":
            raise PermissionError
        if mode == "servers":
            offered.append(params)
        return {"sessionId": {"nameless": 5, "long": "x" * 300}.get(mode, ID)}
    if method == "session/prompt":
        said = params["prompt"][0]["text"]
        stop = prompt(mode, said)
        return {"stopReason": next(iter(stop), "end_turn")}
    return {}


def main(mode):
    if mode == "stubborn":
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
    if mode == "deaf":
        sys.stdin.close()
        time.sleep(3600)
    while True:
        message = hear()
        if "id" not in message:
            continue
        try:
            send({"id": message["id"], "result": answer(mode, message)})
        except PermissionError:
            error = {"code": -32000, "message": "Authentication required"}
            send({"id": message["id"], "error": error})
        except RuntimeError as problem:
            error = {"code": -32603, "message": "Internal error", "data": {"message": str(problem)}}
            send({"id": message["id"], "error": error})
        if mode == "stubborn" and message["method"] == "session/prompt":
            while True:
                time.sleep(1)
        if mode == "status" and message["method"] == "session/prompt":
            os._exit(7)


main(sys.argv[1])
