import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Page } from 'playwright-core'
import type { Ran } from '../../agents/program.ts'
import { runAlone } from './alone.ts'

/** One snippet of the page, with the file it belongs in. */
export interface Pasted {
  readonly text: string
  readonly syntax: string
  readonly role: string | undefined
  readonly file: string | undefined
}

/** Snippets of the chosen client as shown on the page. */
export async function pastedFrom(page: Page): Promise<readonly Pasted[]> {
  const all = await page.locator('pre[data-syntax]').all()
  return Promise.all(
    all.map(async one => ({
      text: (await one.textContent())!,
      syntax: (await one.getAttribute('data-syntax'))!,
      role: (await one.getAttribute('data-role')) ?? undefined,
      file: (await one.getAttribute('data-file')) ?? undefined,
    })),
  )
}

interface Desk {
  readonly port: number
  /** Shell scripts that replace the programs named in the snippets, by name. */
  readonly programs?: { readonly [name: string]: string }
  /** Folder with the JavaScript packages. */
  readonly modules?: string
  /** Script to run. By default the snippets for terminals. */
  readonly run?: string
}

/** Follows the page as a user would: saves the files and runs the terminal snippets. */
export async function pasteAndRun(
  pasted: readonly Pasted[],
  { port, programs = {}, modules, run }: Desk,
): Promise<Ran> {
  const home = mkdtempSync(join(tmpdir(), 'pasted-'))
  const work = join(home, 'work')
  const bin = join(home, 'bin')
  try {
    for (const folder of [work, bin]) mkdirSync(folder)
    for (const { file, text } of pasted) if (file !== undefined) save(file.startsWith('~/') ? home : work, file, text)
    for (const [name, script] of Object.entries(programs)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
      chmodSync(join(bin, name), 0o755)
    }
    if (modules !== undefined) symlinkSync(modules, join(work, 'node_modules'))
    const typed = pasted.filter(one => one.file === undefined && one.role !== 'install').map(({ text }) => text)
    const env = { PATH: `${bin}:${process.env['PATH']}`, PYTHONDONTWRITEBYTECODE: '1' }
    return await runAlone(['sh', '-euc', run ?? typed.join('')], { port, home, work, env })
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

function save(folder: string, file: string, text: string): void {
  const path = join(folder, file.replace('~/', ''))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
