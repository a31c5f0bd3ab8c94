import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEY } from '../builders/config.ts'
import { type Demo, openDemo } from '../builders/demo.ts'
import { TestServer } from '../builders/gateway.ts'

/** A Python interpreter with `openai[realtime]` installed. */
const PYTHON = process.env['REALTIME_PYTHON'] ?? 'python3'

const hasClient = ((): boolean => {
  try {
    execFileSync(PYTHON, ['-c', 'import openai.resources.realtime, websockets'], { stdio: 'ignore' })
    return true
  } catch {
    console.warn(`${PYTHON} has no openai[realtime]: its tests are skipped (REALTIME_PYTHON names another).`)
    return false
  }
})()

let replay: Demo
let testServer: TestServer

describe.skipIf(!hasClient)('the openai SDK of Python', () => {
  beforeAll(async () => {
    replay = await openDemo()
    testServer = await TestServer.open(replay.channels, { config: { realtime: replay.realtime } })
  })

  afterAll(async () => {
    await testServer.server.close(0)
    await replay.close()
  })

  it('holds sessions by key and by client secret, of either generation', async () => {
    const program = join(import.meta.dirname, 'client.py')
    const { stdout } = await promisify(execFile)(PYTHON, [program, testServer.server.address, KEY])
    const text = 'Hello! This answer was recorded: no model was asked.'
    expect(
      stdout
        .trim()
        .split('\n')
        .map(line => JSON.parse(line)),
    ).toEqual([
      ['async', text, 19_200, 'completed'],
      ['secret', text, 19_200, 'completed'],
      ['beta', text, 0, 'completed'],
      ['sync', text, 19_200, 'completed'],
    ])
  })
})
