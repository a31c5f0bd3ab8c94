import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PRESETS } from '../../src/formats/index.ts'
import { CLIENTS, clientPage } from './client-pages.ts'
import { providerPage } from './provider-pages.ts'

/* Pages that only the site has, because they follow from tables: `node building/site/pages.ts` writes them. */

const FOLDER = join(import.meta.dirname, '../../lib/pages')

/** The text of each page, by its path in docs. */
export const PAGES: ReadonlyMap<string, string> = new Map([
  ...[...PRESETS.values()].map(preset => [`providers/${preset.name}`, providerPage(preset)] as const),
  ...CLIENTS.map(client => [`clients/${client.id}`, clientPage(client)] as const),
])

if (import.meta.main) {
  rmSync(FOLDER, { recursive: true, force: true })
  for (const [path, text] of PAGES) {
    const file = join(FOLDER, `${path}.md`)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, `${text}\n`)
  }
}
