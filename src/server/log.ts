import { write, writeSync } from 'node:fs'
import { pino } from 'pino'
import type { Log } from '../gateway/index.ts'

/** A log that is written in batches, so that no request waits for a line of it. */
export interface OpenLog extends Log {
  /** Writes out what is still held; settles when that is done, or cannot be. */
  flush(): Promise<void>
}

/** Lines wait until there are so many characters of them, or so many milliseconds. */
const ENOUGH = 64 * 1024
const EVERY = 500
/** Characters that wait where nothing can be written, as on a full disk; lines beyond are lost. */
const MOST = 4 * 1024 * 1024

/** Opens the log on standard output, or on another file descriptor. */
export function openLog(descriptor = 1): OpenLog {
  const lines = new Batch(descriptor)
  const log = pino({ base: null }, lines)
  setInterval(() => lines.pass(), EVERY).unref()
  process.once('exit', () => lines.last())
  return {
    info: (fields, message) => lines.write(lineOf(fields, message)),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    flush: () => lines.flush(),
  }
}

/**
 * A line as pino has it, of fields that are plain values. There is one for each request: made here it costs a third of
 * what it costs there.
 */
function lineOf(fields: object, message: string): string {
  const text = JSON.stringify(fields)
  const told = text === '{}' ? '' : `${text.slice(1, -1)},`
  return `{"level":${INFO},"time":${Date.now()},${told}"msg":${JSON.stringify(message)}}\n`
}

const INFO = pino.levels.values['info']!

/**
 * Holds lines back and writes many at once. Pino's own destination copies all it holds for every line, and tries for
 * ever to write its last ones where nothing can be written, so that the process never ends.
 */
class Batch {
  private readonly descriptor: number
  private lines: string[] = []
  private length = 0
  /** What is being written. */
  private text: Buffer | undefined
  /** Who waits until all is written, or cannot be. */
  private waiting: PromiseWithResolvers<void> | undefined
  /** It was said that nothing can be written. */
  private mute = false

  constructor(descriptor: number) {
    this.descriptor = descriptor
  }

  write(line: string): void {
    if (this.length > MOST) return
    this.lines.push(line)
    this.length += line.length
    if (this.length >= ENOUGH) this.pass()
  }

  pass(): void {
    if (this.text !== undefined || this.lines.length === 0) return
    this.text = this.taken()
    this.send()
  }

  flush(): Promise<void> {
    this.pass()
    if (this.text === undefined) return Promise.resolve()
    this.waiting ??= Promise.withResolvers()
    return this.waiting.promise
  }

  /** The process ends: what is left is written now or never. */
  last(): void {
    try {
      writeSync(this.descriptor, Buffer.concat([this.text ?? Buffer.alloc(0), this.taken()]))
    } catch {
      // Nothing can be written, and there is nobody to tell.
    }
  }

  private taken(): Buffer {
    const text = Buffer.from(this.lines.join(''))
    this.lines = []
    this.length = 0
    return text
  }

  private readonly send = (): void => write(this.descriptor, this.text!, this.wrote)

  private readonly wrote = (fault: NodeJS.ErrnoException | null, bytes: number): void => {
    if (fault !== null) {
      this.failed(fault)
      return
    }
    this.mute = false
    const rest = this.text!.subarray(bytes)
    this.text = rest.length === 0 ? undefined : rest
    if (this.text !== undefined) this.send()
    else if (this.waiting !== undefined && this.lines.length > 0) this.pass()
    else this.settle()
  }

  /** A reader that is behind is no fault; all else is said once, where operators may look, until it is over. */
  private failed(fault: NodeJS.ErrnoException): void {
    setTimeout(this.send, EVERY).unref()
    if (fault.code === 'EAGAIN') return
    if (!this.mute) process.stderr.write(`the log cannot be written: ${fault.message}\n`)
    this.mute = true
    this.settle()
  }

  private settle(): void {
    this.waiting?.resolve()
    this.waiting = undefined
  }
}
