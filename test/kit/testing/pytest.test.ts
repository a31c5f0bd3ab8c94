import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { replay } from '../../../src/kit/testing/index.ts'
import { folderOf } from '../../agents/install.ts'
import { openDemo } from '../../builders/demo.ts'
import { DOCUMENTED_TESTS } from '../../builders/documented-tests.ts'
import { MAIN } from '../../builders/paths.ts'

/* The example for pytest of docs/testing.md, run as written. */

/** A stand-in for OpenAI's SDK with the members that the example uses, for machines without it. */
const STAND_IN = `
import json, urllib.request
from types import SimpleNamespace

class OpenAI:
    def __init__(self, base_url, api_key, default_headers):
        self.base_url, self.headers = base_url, {"content-type": "application/json", **default_headers}
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self.create))

    def create(self, **body):
        url = f"{self.base_url}/chat/completions"
        request = urllib.request.Request(url, json.dumps(body).encode(), self.headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer, object_hook=lambda fields: SimpleNamespace(**fields))
`

const hasPytest = spawnSync('python3', ['-c', 'import pytest']).status === 0
if (!hasPytest) console.warn('The example for pytest is not run: python3 has no pytest (pip install pytest).')

test.skipIf(!hasPytest)('the documented example for pytest passes, and fails for a changed prompt', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pytest-'))
  for (const [name, text] of DOCUMENTED_TESTS) if (name.endsWith('.py')) writeFileSync(join(folder, name), text)
  const demo = await openDemo()
  const provider = await replay(join(folder, 'recordings'), { mode: 'record', upstream: demo.url })
  const body = JSON.stringify({ model: 'replay', messages: [{ role: 'user', content: 'Say hello.' }] })
  await (await fetch(`${provider.url}/v1/chat/completions`, { method: 'POST', body })).text()
  await provider.close()
  await demo.close()
  const environment = { ...process.env, INTERLINGUA: `${process.execPath} ${MAIN}`, PYTHONPATH: packages(folder) }
  const run = (): string => {
    const options = { cwd: folder, env: environment, encoding: 'utf8' } as const
    const { stdout, stderr } = spawnSync('python3', ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], options)
    return stdout + stderr
  }
  expect(run()).toContain('1 passed')
  const file = join(folder, 'test_hello.py')
  writeFileSync(file, readFileSync(file, 'utf8').replace('Say hello.', 'Say goodbye.'))
  const failed = run()
  expect(failed).toContain('1 failed')
  expect(failed).toContain('404')
})

/** A folder with the OpenAI SDK: the one of the agents' tests if it is installed, otherwise the stand-in. */
function packages(folder: string): string {
  const python = join(folderOf('python'), 'bin/python')
  const find = 'import openai, os; print(os.path.dirname(os.path.dirname(openai.__file__)))'
  if (existsSync(python)) {
    const path = execFileSync(python, ['-c', find], { encoding: 'utf8' }).trim()
    if (spawnSync('python3', ['-c', 'import openai'], { env: { ...process.env, PYTHONPATH: path } }).status === 0)
      return path
  }
  const own = join(folder, 'packages')
  mkdirSync(own)
  writeFileSync(join(own, 'openai.py'), STAND_IN)
  return own
}
