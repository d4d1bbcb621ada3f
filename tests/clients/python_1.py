"""The official Python client, 1.x: every step that it can take, one line of JSON for each.

usage: python_1.py URL JSONRPC|HTTP+JSON
"""

import asyncio
import base64
import json
import os
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as a2a
from a2a.utils.signing import create_signature_verifier
from google.protobuf.json_format import MessageToDict
from jwt.api_jwk import PyJWK

URL, BINDING = sys.argv[1], sys.argv[2]
WEBHOOK = os.environ["PLEAT_TEST_WEBHOOK"]


def say(step, **found):
    print(json.dumps({"step": step, **found}), flush=True)


def message(*parts, task=None):
    parts = [a2a.Part(text=part) if isinstance(part, str) else part for part in parts]
    message = a2a.Message(message_id=uuid.uuid4().hex, role=a2a.ROLE_USER, parts=parts)
    if task is not None:
        message.task_id = task.id
        message.context_id = task.context_id
    return message


def state(task):
    return a2a.TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower().replace("_", "-")


def value(task, place=0):
    """What the first part of an artifact holds."""
    part = task.artifacts[place].parts[0]
    kind = part.WhichOneof("content")
    return MessageToDict(part.data) if kind == "data" else getattr(part, kind)


def kind(event):
    return {"task": "task", "status_update": "status", "artifact_update": "artifact"}[event.WhichOneof("payload")]


async def refused(call):
    """The name of the error that it ends with."""
    try:
        await call
    except Exception as error:
        return type(error).__name__.removesuffix("Error")
    return None


async def main():
    http = httpx.AsyncClient(headers={"Authorization": f"Bearer {os.environ['PLEAT_TEST_KEY']}"}, timeout=60)

    def client(card, streaming):
        config = ClientConfig(httpx_client=http, streaming=streaming, supported_protocol_bindings=[BINDING])
        return ClientFactory(config).create(card)

    card = await A2ACardResolver(http, URL).get_agent_card(http_kwargs={"headers": {"A2A-Version": "1.0"}})
    say("discover", name=card.name, skills=[skill.id for skill in card.skills],
        streaming=card.capabilities.streaming, push=card.capabilities.push_notifications)
    plain, streaming = client(card, False), client(card, True)

    async def send(*parts, task=None, immediately=False):
        request = a2a.SendMessageRequest(message=message(*parts, task=task))
        request.configuration.return_immediately = immediately
        async for event in plain.send_message(request):
            return event.task

    done = await send("hello")
    say("send", state=state(done), text=value(done))

    events, text = [], ""
    async for event in streaming.send_message(a2a.SendMessageRequest(message=message("stream 3"))):
        events.append(kind(event))
        if event.HasField("status_update"):
            last = event.status_update
        if event.HasField("artifact_update") and event.artifact_update.artifact.name == "behaviours-stream":
            text += "".join(part.text for part in event.artifact_update.artifact.parts)
    say("stream", events=events, state=state(last), text=text)

    again = await plain.get_task(a2a.GetTaskRequest(id=done.id, history_length=10))
    say("get", state=state(again), same=value(again) == value(done), history=len(again.history))

    first = await plain.list_tasks(a2a.ListTasksRequest(page_size=1))
    second = await plain.list_tasks(a2a.ListTasksRequest(page_size=1, page_token=first.next_page_token))
    ids = [task.id for page in (first, second) for task in page.tasks]
    say("list", found=done.id in ids, more=bool(first.next_page_token) and len(set(ids)) == 2)

    slow = await send("slow 1", immediately=True)
    say("nonblocking", state=state(slow))
    followed = [event async for event in streaming.subscribe(a2a.SubscribeToTaskRequest(id=slow.id))]
    say("subscribe", first=kind(followed[0]), state=state(followed[-1].status_update))

    slow = await send("slow 60", immediately=True)
    say("cancel", state=state(await plain.cancel_task(a2a.CancelTaskRequest(id=slow.id))))

    unknown = "task_0123456789abcdef0123456789abcdef"
    say("missing", error=await refused(plain.get_task(a2a.GetTaskRequest(id=unknown))))
    say("cancel-finished", error=await refused(plain.cancel_task(a2a.CancelTaskRequest(id=done.id))))

    asked = await send("ask")
    answered = await send("Ada", task=asked)
    say("multi-turn", first=state(asked), then=state(answered), greeting=value(answered)["greeting"])

    mine = a2a.Part(raw=b"a file of mine", filename="mine.txt", media_type="text/plain")
    seen = value(await send(mine))["content"][0]
    theirs, linked = await send("file"), await send("link")
    say("files", sent=base64.b64decode(seen["resource"]["blob"]).decode(), bytes=value(theirs).decode(), uri=value(linked))

    ends = {word: state(await send(word)) for word in ("fail", "reject", "auth")}
    say("failures", **ends)

    slow = await send("slow 1", immediately=True)
    config = a2a.TaskPushNotificationConfig(task_id=slow.id, url=WEBHOOK, token="token-of-the-test")
    made = await plain.create_task_push_notification_config(config)
    named = a2a.GetTaskPushNotificationConfigRequest(task_id=slow.id, id=made.id)
    got = await plain.get_task_push_notification_config(named)
    all_of = a2a.ListTaskPushNotificationConfigsRequest(task_id=slow.id)
    listed = await plain.list_task_push_notification_configs(all_of)
    async for _ in streaming.subscribe(a2a.SubscribeToTaskRequest(id=slow.id)):
        pass
    await asyncio.sleep(1)
    await plain.delete_task_push_notification_config(
        a2a.DeleteTaskPushNotificationConfigRequest(task_id=slow.id, id=made.id))
    left = await plain.list_task_push_notification_configs(all_of)
    say("push", set=made.url == WEBHOOK, got=got.id == made.id, listed=len(listed.configs), left=len(left.configs))

    extended = await plain.get_extended_agent_card(a2a.GetExtendedAgentCardRequest())
    say("extended", skills=[skill.id for skill in extended.skills])
    await signature(http, card)


async def signature(http, card):
    keys = (await http.get(f"{URL}.well-known/jwks.json")).json()["keys"]
    verify = create_signature_verifier(lambda kid, _: PyJWK(next(key for key in keys if key["kid"] == kid)), ["ES256"])

    def holds():
        try:
            verify(card)
        except Exception:
            return False
        return True

    valid = holds()
    card.description = "something else"
    say("signature", valid=valid, tampered=holds())


asyncio.run(main())
