"""The official Python client, 0.3: every step that it can take, one line of JSON for each.

usage: python_03.py URL JSONRPC
"""

import asyncio
import base64
import json
import os
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    DeleteTaskPushNotificationConfigParams, FilePart, FileWithBytes, GetTaskPushNotificationConfigParams,
    ListTaskPushNotificationConfigParams, Message, Part, PushNotificationConfig, Role, TaskIdParams,
    TaskPushNotificationConfig, TaskQueryParams, TextPart,
)

URL = sys.argv[1]
WEBHOOK = os.environ["PLEAT_TEST_WEBHOOK"]


def say(step, **found):
    print(json.dumps({"step": step, **found}), flush=True)


def message(*parts, task=None):
    parts = [Part(root=TextPart(text=part) if isinstance(part, str) else part) for part in parts]
    return Message(message_id=uuid.uuid4().hex, role=Role.user, parts=parts,
                   task_id=task and task.id, context_id=task and task.context_id)


def state(task):
    return task.status.state.value


def value(task, place=0):
    """What the first part of an artifact holds."""
    part = task.artifacts[place].parts[0].root
    return {"text": lambda: part.text, "data": lambda: part.data, "file": lambda: part.file}[part.kind]()


def kind(update):
    return "task" if update is None else {"status-update": "status", "artifact-update": "artifact"}[update.kind]


CODES = {-32001: "TaskNotFound", -32002: "TaskNotCancelable"}


async def refused(call):
    """The name of the error that it ends with."""
    try:
        await call
    except Exception as error:
        return CODES[error.error.code]
    return None


async def main():
    http = httpx.AsyncClient(headers={"Authorization": f"Bearer {os.environ['PLEAT_TEST_KEY']}"}, timeout=60)
    card = await A2ACardResolver(http, URL).get_agent_card()
    say("discover", name=card.name, skills=[skill.id for skill in card.skills],
        streaming=card.capabilities.streaming, push=card.capabilities.push_notifications)
    plain = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
    polling = ClientFactory(ClientConfig(httpx_client=http, streaming=False, polling=True)).create(card)
    streaming = ClientFactory(ClientConfig(httpx_client=http, streaming=True)).create(card)

    async def send(*parts, task=None, by=plain):
        async for task, _ in by.send_message(message(*parts, task=task)):
            return task

    done = await send("hello")
    say("send", state=state(done), text=value(done))

    events, text = [], ""
    async for task, update in streaming.send_message(message("stream 3")):
        events.append(kind(update))
        if kind(update) == "artifact" and update.artifact.name == "behaviours-stream":
            text += "".join(part.root.text for part in update.artifact.parts)
    say("stream", events=events, state=state(task), text=text)

    again = await plain.get_task(TaskQueryParams(id=done.id, history_length=10))
    say("get", state=state(again), same=value(again) == value(done), history=len(again.history))

    slow = await send("slow 1", by=polling)
    say("nonblocking", state=state(slow))
    followed = [event async for event in streaming.resubscribe(TaskIdParams(id=slow.id))]
    say("subscribe", first=kind(followed[0][1]), state=state(followed[-1][0]))

    slow = await send("slow 60", by=polling)
    say("cancel", state=state(await plain.cancel_task(TaskIdParams(id=slow.id))))

    unknown = "task_0123456789abcdef0123456789abcdef"
    say("missing", error=await refused(plain.get_task(TaskQueryParams(id=unknown))))
    say("cancel-finished", error=await refused(plain.cancel_task(TaskIdParams(id=done.id))))

    asked = await send("ask")
    answered = await send("Ada", task=asked)
    say("multi-turn", first=state(asked), then=state(answered), greeting=value(answered)["greeting"])

    content = base64.b64encode(b"a file of mine").decode()
    mine = FilePart(file=FileWithBytes(bytes=content, name="mine.txt", mime_type="text/plain"))
    seen = value(await send(mine))["content"][0]
    theirs, linked = await send("file"), await send("link")
    say("files", sent=base64.b64decode(seen["resource"]["blob"]).decode(),
        bytes=base64.b64decode(value(theirs).bytes).decode(), uri=value(linked).uri)

    ends = {word: state(await send(word)) for word in ("fail", "reject", "auth")}
    say("failures", **ends)

    slow = await send("slow 1", by=polling)
    config = PushNotificationConfig(url=WEBHOOK, token="token-of-the-test")
    made = await plain.set_task_callback(TaskPushNotificationConfig(task_id=slow.id, push_notification_config=config))
    name = made.push_notification_config.id
    got = await plain.get_task_callback(GetTaskPushNotificationConfigParams(id=slow.id, push_notification_config_id=name))
    # This client has no methods for the other two: they are sent as they stand in the specification.
    call = lambda method, params: rpc(http, card.url, method, params.model_dump(by_alias=True, exclude_none=True))
    listed = await call("tasks/pushNotificationConfig/list", ListTaskPushNotificationConfigParams(id=slow.id))
    async for _ in streaming.resubscribe(TaskIdParams(id=slow.id)):
        pass
    await asyncio.sleep(1)
    await call("tasks/pushNotificationConfig/delete",
               DeleteTaskPushNotificationConfigParams(id=slow.id, push_notification_config_id=name))
    left = await call("tasks/pushNotificationConfig/list", ListTaskPushNotificationConfigParams(id=slow.id))
    say("push", set=made.push_notification_config.url == WEBHOOK, got=got.push_notification_config.id == name,
        listed=len(listed), left=len(left))

    extended = await plain.get_card()
    say("extended", skills=[skill.id for skill in extended.skills])


async def rpc(http, url, method, params):
    answer = (await http.post(url, json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).json()
    return answer["result"]


asyncio.run(main())
