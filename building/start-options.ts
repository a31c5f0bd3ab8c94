import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  readonly scripts: { readonly start: string }
}

/** Options of Node with which `npm start` starts the gateway. */
export const START_OPTIONS: readonly string[] = scripts.start.split(' ').filter(word => word.startsWith('--'))
