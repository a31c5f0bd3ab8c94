import { execFileSync } from 'node:child_process'
import { currentBundle } from '../bin/bundle.js'

/** Makes a bundle of the present sources if there is none, because users run a bundle and sources are slower. */
export function ensureBundle(): void {
  if (currentBundle() !== undefined) return
  console.log('The bundle is built first.')
  execFileSync(process.execPath, ['building/bundle.ts'], { stdio: 'inherit' })
  if (currentBundle() === undefined) throw new Error('There is no bundle of these sources.')
}
