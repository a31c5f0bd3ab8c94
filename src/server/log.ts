import { write, writeSync } from 'node:fs'
import { pino } from 'pino'
import type { Log } from '../gateway/index.ts'

/** A logger that writes in batches, so that no request waits for it. */
export interface OpenLog extends Log {
  /** Writes all pending lines. Resolves when the lines are written or a write fails. */
  flush(): Promise<void>
  /** Writes complete lines from another process. */
  writeLines(lines: string): void
}

/** Number of buffered characters that triggers a write. */
const BATCH_SIZE = 64 * 1024
/** Maximum time between writes, in milliseconds. */
const WRITE_INTERVAL = 500
/** Maximum number of characters buffered while writes fail, for example on a full disk. Further lines are lost. */
const MAX_BUFFERED = 4 * 1024 * 1024

/** Opens the log on standard output or another file descriptor. */
export function openLog(descriptor = 1): OpenLog {
  const lines = new Batch(descriptor)
  const log = pino({ base: null }, lines)
  setInterval(() => lines.writeBatch(), WRITE_INTERVAL).unref()
  process.once('exit', () => lines.writeRest())
  return {
    info: (fields, message) => lines.write(lineOf(fields, message)),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
    flush: () => lines.flush(),
    writeLines: text => lines.write(text),
  }
}

/**
 * Formats a line like pino, for fields that are plain values. Every request logs one of these lines, and this function
 * takes a third of pino's time.
 */
function lineOf(fields: object, message: string): string {
  const text = JSON.stringify(fields)
  const fieldsText = text === '{}' ? '' : `${text.slice(1, -1)},`
  return `{"level":${INFO_LEVEL},"time":${Date.now()},${fieldsText}"msg":${JSON.stringify(message)}}\n`
}

const INFO_LEVEL = pino.levels.values['info']!

/**
 * Buffers lines and writes them in batches. Pino's own destination copies its whole buffer for every line, and if
 * writes fail, it retries the last lines forever, so that the process never exits.
 */
class Batch {
  private readonly descriptor: number
  private lines: string[] = []
  private length = 0
  /** The batch being written. */
  private currentBatch: Buffer | undefined
  /** Resolves pending `flush` calls. */
  private pendingFlush: PromiseWithResolvers<void> | undefined
  /** True if the current failure has already been reported on standard error. */
  private isReported = false

  constructor(descriptor: number) {
    this.descriptor = descriptor
  }

  write(line: string): void {
    if (this.length > MAX_BUFFERED) return
    this.lines.push(line)
    this.length += line.length
    if (this.length >= BATCH_SIZE) this.writeBatch()
  }

  writeBatch(): void {
    if (this.currentBatch !== undefined || this.lines.length === 0) return
    this.currentBatch = this.takeBuffer()
    this.send()
  }

  flush(): Promise<void> {
    this.writeBatch()
    if (this.currentBatch === undefined) return Promise.resolve()
    this.pendingFlush ??= Promise.withResolvers()
    return this.pendingFlush.promise
  }

  /** Writes the remaining lines synchronously when the process exits. */
  writeRest(): void {
    try {
      writeSync(this.descriptor, Buffer.concat([this.currentBatch ?? Buffer.alloc(0), this.takeBuffer()]))
    } catch {
      // Writing fails, so this failure cannot be reported either.
    }
  }

  private takeBuffer(): Buffer {
    const text = Buffer.from(this.lines.join(''))
    this.lines = []
    this.length = 0
    return text
  }

  private readonly send = (): void => write(this.descriptor, this.currentBatch!, this.onWritten)

  private readonly onWritten = (fault: NodeJS.ErrnoException | null, bytes: number): void => {
    if (fault !== null) {
      this.retry(fault)
      return
    }
    this.isReported = false
    const rest = this.currentBatch!.subarray(bytes)
    this.currentBatch = rest.length === 0 ? undefined : rest
    if (this.currentBatch !== undefined) this.send()
    else if (this.pendingFlush !== undefined && this.lines.length > 0) this.writeBatch()
    else this.settle()
  }

  /**
   * Schedules another attempt after a failed write. A slow reader (EAGAIN) does not count as a failure. Other failures
   * are reported on standard error, once until a write succeeds.
   */
  private retry(fault: NodeJS.ErrnoException): void {
    setTimeout(this.send, WRITE_INTERVAL).unref()
    if (fault.code === 'EAGAIN') return
    if (!this.isReported) process.stderr.write(`the log cannot be written: ${fault.message}\n`)
    this.isReported = true
    this.settle()
  }

  private settle(): void {
    this.pendingFlush?.resolve()
    this.pendingFlush = undefined
  }
}
