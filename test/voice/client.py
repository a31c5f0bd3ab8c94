"""A session of the openai SDK's realtime client, in its async, its sync and its beta form. Prints one JSON line each."""

import asyncio
import base64
import json
import sys

from openai import AsyncOpenAI, OpenAI

address, key = sys.argv[1], sys.argv[2]
ITEM = {'type': 'message', 'role': 'user', 'content': [{'type': 'input_text', 'text': 'Hello'}]}


def options(api_key):
    base = f'{address}/v1'
    return {'api_key': api_key, 'base_url': base, 'websocket_base_url': base.replace('http', 'ws')}


class Seen:
    def __init__(self, name):
        self.name, self.text, self.audio = name, '', 0

    def take(self, event):
        if event.type in ('response.output_audio_transcript.delta', 'response.text.delta'):
            self.text += event.delta
        if event.type == 'response.output_audio.delta':
            self.audio += len(base64.b64decode(event.delta))
        if event.type == 'error':
            raise RuntimeError(event.error.message)
        if event.type != 'response.done':
            return False
        print(json.dumps([self.name, self.text, self.audio, event.response.status]))
        return True


async def spoken():
    client = AsyncOpenAI(**options(key))
    secret = await client.realtime.client_secrets.create(session={'type': 'realtime', 'model': 'replay'})
    for name, one in (('async', client), ('secret', AsyncOpenAI(**options(secret.value)))):
        async with one.realtime.connect(model='replay') as connection:
            seen = Seen(name)
            await connection.conversation.item.create(item=ITEM)
            await connection.response.create()
            async for event in connection:
                if seen.take(event):
                    break


async def beta():
    async with AsyncOpenAI(**options(key)).beta.realtime.connect(model='replay') as connection:
        seen = Seen('beta')
        await connection.session.update(session={'modalities': ['text']})
        await connection.conversation.item.create(item=ITEM)
        await connection.response.create()
        async for event in connection:
            if seen.take(event):
                break


def sync():
    with OpenAI(**options(key)).realtime.connect(model='replay') as connection:
        seen = Seen('sync')
        connection.conversation.item.create(item=ITEM)
        connection.response.create()
        for event in connection:
            if seen.take(event):
                break


async def main():
    await spoken()
    await beta()


asyncio.run(main())
sync()
