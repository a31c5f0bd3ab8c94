import { type ChildProcess, spawn } from 'node:child_process'
import { freePort } from '../src/kit/conformance/free-port.ts'
import { pinned } from './pin.ts'
import { opened } from './setup.ts'

/** A running stub that answers for every upstream. */
export interface Stub {
  readonly child: ChildProcess
  readonly address: string
}

/** Starts the stub. It runs on the core of the load unless `isPinned` is false. */
export async function startStub(isPinned = true): Promise<Stub> {
  const port = await freePort()
  const words = [process.execPath, 'bench/stub.ts', `${port}`]
  const [command, ...args] = isPinned ? pinned('load', words) : words
  const child = spawn(command!, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  await opened(port)
  return { child, address: `http://127.0.0.1:${port}` }
}
