"""A video task from its submit to its deletion, as the library does it."""

import json

import openai

MODEL = "film"
client = openai.OpenAI(max_retries=0)
seen = {}

made = client.videos.create(model=MODEL, prompt="a", seconds="8", size="1280x720")
seen["made"] = made.status
done = client.videos.poll(made.id)
seen["done"] = done.status
seen["bytes"] = len(client.videos.download_content(made.id).read())
part = client.videos.download_content(made.id, extra_headers={"range": "bytes=0-99"})
seen["part"] = len(part.read())
seen["listed"] = made.id in [video.id for video in client.videos.list()]
try:
    remix = client.videos.remix(made.id, prompt="b")
    seen["remix"] = client.videos.poll(remix.id).status
except openai.BadRequestError as error:
    seen["remix"] = error.status_code
print("fail next", flush=True)
input()
failed = client.videos.create_and_poll(model=MODEL, prompt="b")
assert failed.error is not None and failed.error.message
seen["failed"] = failed.status
seen["deleted"] = client.videos.delete(made.id).deleted
try:
    client.videos.retrieve(made.id)
except openai.NotFoundError as error:
    seen["gone"] = error.status_code
print(json.dumps(seen))
