import { execFileSync } from 'node:child_process'
import type { Slice } from './slices.ts'

/** Returns the lines of `src` that differ from the common ancestor with a commit, including uncommitted changes. */
export function changedSince(commit: string): readonly Slice[] {
  const git = (...args: readonly string[]) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  const base = git('merge-base', commit, 'HEAD').trim()
  return changedLines(git('diff', '--unified=0', '--no-color', '--no-ext-diff', base, '--', 'src'))
}

/** Reads the added and changed lines from a diff without context. */
export function changedLines(diff: string): readonly Slice[] {
  const slices: Slice[] = []
  let file: string | undefined
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ ')) file = /^\+\+\+ b\/(.+)$/.exec(line)?.[1]
    const [, from, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    if (file === undefined || from === undefined || count === '0') continue
    slices.push({ file, from: Number(from), to: Number(from) + Number(count) - 1 })
  }
  return slices
}
