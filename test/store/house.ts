import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory that is gone after the test. */
export function scratch(): { readonly path: string; drop(): void } {
  const path = mkdtempSync(join(tmpdir(), 'interlingua-'))
  return { path, drop: () => rmSync(path, { recursive: true, force: true }) }
}
