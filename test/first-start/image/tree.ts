import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

interface Mount {
  readonly from: string
  readonly to: string
  readonly isReadOnly?: boolean
}

/** The files of an image in a folder, with what a container of it has mounted. */
export interface Tree {
  readonly folder: string
  readonly mounts: Mount[]
}

export function newTree(folder: string): Tree {
  mkdirSync(folder, { recursive: true })
  return { folder, mounts: [] }
}

/** Path of a program of this machine. */
export const programAt = (name: string): string =>
  execFileSync('sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).trim()

/** Returns a reason why no trees can be entered here. */
export function noTrees(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root enters other root folders'
  for (const program of ['unshare', 'nsenter', 'mount', 'ip', 'dpkg', 'git'])
    if (spawnSync('sh', ['-c', 'command -v "$0"', program]).status !== 0) return `there is no ${program}`
  const { status, stderr } = spawnSync('unshare', ['--mount', '--net', 'true'], { encoding: 'utf8' })
  return status === 0 ? undefined : `namespaces are refused: ${stderr.trim()}`
}

export interface Entering {
  /** User and group, such as `65532:65532`. Root without it. */
  readonly user?: string
  readonly workdir?: string
  /** Whether the tree is read-only except for its mounts. */
  readonly isReadOnly?: boolean
  /** Whether there is a network of its own, with a loopback only. */
  readonly isAlone?: boolean
}

/** Returns a command that runs another one in a tree, as the same process. */
export function entering(
  { folder, mounts }: Tree,
  words: readonly string[],
  { user, workdir, isReadOnly, isAlone }: Entering = {},
): readonly string[] {
  // The environment of the command has other paths.
  const mount = programAt('mount')
  const quoted = (path: string): string => `'${path}'`
  const bound = ({ from, to, isReadOnly: readOnly }: Mount): string =>
    `${mount} --bind ${readOnly ? '-o ro ' : ''}${quoted(from)} ${quoted(join(folder, to))}`
  const script = [
    ...[
      'set -e',
      ...(isAlone ? [`${programAt('ip')} link set lo up`] : []),
      `${mount} --bind ${quoted(folder)} ${quoted(folder)}`,
    ],
    ...(isReadOnly ? [`${mount} -o remount,bind,ro ${quoted(folder)}`] : []),
    ...mounts.map(bound),
    `${mount} -t proc proc ${quoted(join(folder, 'proc'))}`,
    `${mount} --bind /dev ${quoted(join(folder, 'dev'))}`,
    `exec ${programAt('nsenter')} --root=${quoted(folder)} ${asUser(user, workdir).join(' ')} "$@"`,
  ]
  const namespaces = ['--mount', ...(isAlone ? ['--net'] : [])]
  return [programAt('unshare'), ...namespaces, '/bin/sh', '-c', script.join('\n'), 'sh', ...words]
}

/** Returns a command that runs another one beside a process that entered a tree. */
export const beside = (process: number, words: readonly string[], { user, workdir }: Entering): readonly string[] => [
  ...[programAt('nsenter'), '--target', String(process), '--mount', '--net', '--root'],
  ...[...asUser(user, workdir), ...words],
]

/** Options of nsenter for a user and group by number, without further groups, and a folder. */
function asUser(user = '0:0', workdir = '/'): readonly string[] {
  const [id, group] = user.split(':')
  return [`--wdns=${workdir}`, `--setuid=${id}`, `--setgid=${group}`, '--']
}
