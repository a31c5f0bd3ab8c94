import { createHash, randomInt } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** Computes a seed from the names and contents of all code and tests below `root`. The same tree has the same seed. */
export function seedOfTree(root: string): number {
  const hash = createHash('sha256')
  for (const file of globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: root }).sort()) {
    const content = readFileSync(join(root, file))
    hash.update(`${file}\0${content.length}\0`).update(content)
  }
  return hash.digest().readInt32BE()
}

/** Returns the seed of a run: `SEED=<integer>`, a random one for `SEED=random` or with `RUNS`, else the tree's. */
export function seedOfRun({ SEED, RUNS }: NodeJS.ProcessEnv, root: string = ROOT): number {
  if (SEED === 'random' || (SEED === undefined && RUNS !== undefined)) return randomInt(2 ** 31)
  if (SEED === undefined) return seedOfTree(root)
  const seed = Number(SEED)
  if (SEED.trim() === '' || !Number.isSafeInteger(seed)) throw new Error('SEED is an integer or `random`')
  return seed
}
