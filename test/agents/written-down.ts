import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Play } from './play.ts'
import type { Ran } from './program.ts'
import type { Tap } from './tap.ts'

/** The record of a failed cell. */
export interface Evidence {
  readonly faults: readonly string[]
  readonly play: Play
  readonly ran: Ran
  readonly tap: Tap
  readonly lines: readonly string[]
}

/** Writes the whole traffic into a folder, replacing an existing one. */
export function writeDown(folder: string, { faults, play, ran, tap, lines }: Evidence): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const put = (name: string, content: string | Buffer): void => writeFileSync(join(folder, name), content)
  put('faults.txt', `${faults.join('\n')}\n`)
  put('client.out', ran.out)
  put('client.err', ran.err)
  put('gateway.log', `${lines.join('\n')}\n`)
  for (const [index, { body, sent = '', ...rest }] of play.exchanges.entries()) {
    const number = String(index).padStart(2, '0')
    put(`upstream-${number}.request.json`, JSON.stringify({ ...rest, body }, undefined, 2))
    put(`upstream-${number}.answer.txt`, sent)
  }
  for (const [index, said] of tap.said.entries())
    put(
      `caller-${String(index).padStart(2, '0')}.txt`,
      Buffer.concat(said.flatMap(({ who, bytes }) => [Buffer.from(`\n──── ${who}\n`), bytes])),
    )
}
