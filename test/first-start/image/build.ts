import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { userEnv } from '../checkout.ts'
import { fill } from './bases.ts'
import { type Step, stagesOf, wordsOf } from './dockerfile.ts'
import { entering, newTree, type Tree } from './tree.ts'

/** An image: its files, and how a container of it runs. */
export interface Image {
  readonly tree: Tree
  readonly env: { [name: string]: string }
  workdir: string
  user: string
  readonly volumes: string[]
  entrypoint: readonly string[]
  command: readonly string[]
  health: readonly string[]
}

/** Where an image is built. */
interface Site {
  /** Folder with the files that `COPY` without a stage takes. */
  readonly context: string
  /** Earlier stages by name. */
  readonly stages: Map<string, Image>
}

type Carry = (image: Image, step: Step, site: Site) => void

/** Environment of steps that run programs: npm finds its registry and cache. */
const SHARED_CACHE = '/npm-cache'

const STEPS: { readonly [instruction: string]: Carry } = {
  WORKDIR(image, { text }) {
    image.workdir = text
    mkdirSync(join(image.tree.folder, text), { recursive: true })
  },
  COPY: (image, step, site) => copy(image, step, site),
  RUN: (image, { text }) => run(image, text),
  USER: (image, { text }) => void (image.user = text),
  VOLUME: (image, { text }) => void image.volumes.push(text),
  ENV(image, { text }) {
    const [name, value] = text.split('=') as [string, string]
    image.env[name] = value
  },
  EXPOSE: () => {},
  HEALTHCHECK: (image, { text }) => void (image.health = wordsOf(text)),
  ENTRYPOINT: (image, { text }) => void (image.entrypoint = wordsOf(text)),
  CMD: (image, { text }) => void (image.command = wordsOf(text)),
}

/** Carries out the steps of a Dockerfile without a container engine. Returns the last stage. */
export function buildImage(
  dockerfile: string,
  { context, folder, node }: { context: string; folder: string; node: string },
): Image {
  const stages = new Map<string, Image>()
  let image: Image | undefined
  for (const [index, { base, name, steps }] of stagesOf(readFileSync(dockerfile, 'utf8')).entries()) {
    const tree = newTree(join(folder, String(index)))
    fill(tree, base, node)
    image = { tree, env: {}, workdir: '/', user: 'root', volumes: [], entrypoint: [], command: [], health: [] }
    for (const step of steps) {
      const carry = STEPS[step.instruction]
      if (carry === undefined) throw new Error(`unknown instruction ${step.instruction}`)
      carry(image, step, { context, stages })
    }
    stages.set(name ?? String(index), image)
  }
  return image!
}

/** Copies as Docker does: the content of a folder, or a file, below the target or as the target. */
function copy({ tree, workdir }: Image, { flags, text }: Step, { context, stages }: Site): void {
  const [from, to] = text.split(/\s+/) as [string, string]
  const stage = flags['from'] === undefined ? undefined : stages.get(flags['from'])!
  const source = stage === undefined ? join(context, from) : within(stage.tree, from)
  const target = join(tree.folder, to.startsWith('/') ? to : join(workdir, to))
  const isFolder = statSync(source).isDirectory()
  const folder = isFolder ? target : to.endsWith('/') ? target : dirname(target)
  mkdirSync(folder, { recursive: true })
  const words = isFolder ? [`${source}/.`, folder] : [source, to.endsWith('/') ? join(folder, basename(from)) : target]
  execFileSync('cp', ['-a', ...words])
  const owner = flags['chown'] === undefined ? '0:0' : ownerIn(tree, flags['chown'])
  if (isFolder || owner !== '0:0') execFileSync('chown', ['-R', owner, isFolder ? folder : target])
}

/** Path of a file in a tree, through its mounts. */
function within({ folder, mounts }: Tree, path: string): string {
  const mount = mounts.toReversed().find(({ to }) => path.startsWith(`${to}/`))
  return mount === undefined ? join(folder, path) : join(mount.from, path.slice(mount.to.length))
}

/** Numbers of a user and group, as the tree names them. */
function ownerIn({ folder }: Tree, names: string): string {
  const numberOf = (file: string, name: string): string =>
    new RegExp(`^${name}:[^:]*:(\\d+)`, 'm').exec(readFileSync(join(folder, 'etc', file), 'utf8'))![1]!
  const [user = '', group = user] = names.split(':')
  return `${numberOf('passwd', user)}:${numberOf('group', group)}`
}

export const userOf = (image: Image): string => ownerIn(image.tree, image.user)

function run({ tree, workdir }: Image, command: string): void {
  const cache = npmCache()
  const shared = { folder: tree.folder, mounts: [...tree.mounts, ...cacheMount(tree, cache)] }
  const [program, ...words] = entering(shared, ['/bin/sh', '-c', command], { workdir })
  const env = {
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => /_(?:CERTS?|CERT_FILE)$|^npm_config_registry$/i.test(name)),
    ),
    ...{ PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/root', npm_config_prefer_offline: 'true' },
    ...(cache === undefined ? {} : { npm_config_cache: SHARED_CACHE }),
  }
  const { status, stdout, stderr } = spawnSync(program!, words, { env, encoding: 'utf8', maxBuffer: 2 ** 26 })
  assert.equal(status, 0, `${command}\n${stdout}${stderr}`)
}

/** Folder of npm's cache on this machine. */
function npmCache(): string | undefined {
  const { stdout } = spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8', env: userEnv() })
  const folder = stdout.trim()
  return existsSync(folder) ? folder : undefined
}

function cacheMount({ folder }: Tree, cache: string | undefined): Tree['mounts'] {
  if (cache === undefined) return []
  mkdirSync(join(folder, SHARED_CACHE), { recursive: true })
  return [{ from: cache, to: SHARED_CACHE }]
}
