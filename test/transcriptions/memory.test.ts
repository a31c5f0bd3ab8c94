import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { closingAfterEach } from '../builders/closing.ts'
import { TRANSCRIPTIONS_PATH } from '../builders/paths.ts'
import { MIB } from '../builders/units.ts'
import { json, Stub } from './stub.ts'
import { type Piece, upload } from './upload.ts'

/** `LARGE=1024 npx vitest run test/transcriptions/memory.test.ts` sends a gigabyte. */
const LARGE = Number(process.env['LARGE'] ?? 200)
const closing = closingAfterEach()

async function alone(upstream: string): Promise<{ readonly child: ChildProcess; readonly address: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'server-alone.ts'), upstream], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  closing.push(() => child.kill('SIGKILL'))
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout!.once('data', piece => resolve(String(piece).trim()))
    child.once('exit', () => reject(new Error('it ended')))
  })
  return { child, address }
}

/** Returns the memory of the process and its maximum, in megabytes. */
function memoryOf({ pid }: ChildProcess): { readonly now: number; readonly most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kilobytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)![1])
  return { now: kilobytes('VmRSS') / 1024, most: kilobytes('VmHWM') / 1024 }
}

test.skipIf(process.platform !== 'linux').each<[string, (file: Piece) => readonly Piece[]]>([
  ['model first', file => [{ name: 'model', value: 'm' }, file]],
  ['file first', file => [file, { name: 'model', value: 'm' }]],
])(`${LARGE} MB pass with flat memory: %s`, async (_, form) => {
  const stub = await Stub.open(json({ text: 'so it was said' }))
  closing.push(() => stub.close())
  const { child, address } = await alone(stub.address)
  const file = (size: number): Piece => ({ name: 'file', file: 'talk.mp3', size: size * MIB })
  await upload(address, TRANSCRIPTIONS_PATH, form(file(8)))
  const before = memoryOf(child)
  const began = performance.now()
  expect((await upload(address, TRANSCRIPTIONS_PATH, form(file(LARGE)))).status).toBe(200)
  const took = performance.now() - began
  expect(stub.seen[1]!.files[0]!.size).toBe(LARGE * MIB)
  const grown = memoryOf(child).most - before.now
  if (process.env['LARGE'] !== undefined)
    process.stderr.write(`${LARGE} MB: ${grown.toFixed()} MB more, ${took.toFixed()} ms\n`)
  expect(grown).toBeLessThan(100)
})
