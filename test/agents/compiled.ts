import { copyFileSync, cpSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { download, need, run } from './run.ts'
import type { Pinned } from './versions.ts'

/* Packages of compiled languages: fetched in pinned versions, then compiled with the program that uses them. */

/** Installation of a package of such a language. */
export interface Compiled {
  /** Folder of the program's sources. */
  readonly sources: string
  /**
   * Fetches the packages and compiles the program into a folder.
   *
   * @param cache a folder that all versions share.
   * @throws Unavailable if the language or its registry is not available.
   */
  install(folder: string, pinned: Pinned, cache: string): void
}

const PROGRAMS = join(import.meta.dirname, 'programs')

const go: Compiled = {
  sources: join(PROGRAMS, 'go'),
  install(folder, pinned, cache) {
    need('go')
    const source = join(folder, 'source')
    cpSync(go.sources, source, { recursive: true })
    const env = {
      ...{
        GOMODCACHE: join(cache, 'go-mod'),
        GOCACHE: join(cache, 'go-build'),
        GOTOOLCHAIN: 'local',
        GOFLAGS: '-modcacherw',
      },
    }
    const wanted = Object.entries(pinned).map(([module, version]) => `${module}@${version}`)
    run('go', ['mod', 'init', 'sessions'], { cwd: source, env })
    download('go', ['get', ...wanted], { cwd: source, env })
    // Optimising a program that runs for a tenth of a second takes half of the time.
    run('go', ['build', '-gcflags=all=-N -l', '-ldflags=-s -w', '-o', join(folder, 'sessions'), '.'], {
      cwd: source,
      env,
    })
  },
}

const java: Compiled = {
  sources: join(PROGRAMS, 'java'),
  install(folder, pinned, cache) {
    for (const program of ['java', 'javac', 'mvn']) need(program)
    writeFileSync(join(folder, 'pom.xml'), pomOf(pinned))
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${join(folder, 'lib')}`]
    download('mvn', ['-q', '-B', '-ntp', `-Dmaven.repo.local=${join(cache, 'maven')}`, ...goal], { cwd: folder })
    const options = ['-proc:none', '-cp', `${join(folder, 'lib')}/*`, '-d', join(folder, 'classes')]
    run('javac', [...options, ...globSync(join(java.sources, '*.java'))])
  },
}

function pomOf(pinned: Pinned): string {
  const dependencies = Object.entries(pinned).map(([name, version]) => {
    const [group, artifact] = name.split(':')
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`
  })
  const head =
    '<modelVersion>4.0.0</modelVersion><groupId>agents</groupId><artifactId>sessions</artifactId><version>1</version>'
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">${head}<dependencies>${dependencies.join('')}</dependencies></project>\n`
}

/** Features of each crate. Everything connects to the loopback, so that TLS and its compilation are left out. */
const FEATURES: { readonly [crate: string]: readonly string[] } = {
  'async-openai': ['chat-completion', 'responses'],
  'rig-core': ['reqwest'],
  tokio: ['rt-multi-thread', 'macros'],
  futures: ['std'],
  serde_json: ['std'],
}

const rust: Compiled = {
  sources: join(PROGRAMS, 'rust'),
  install(folder, pinned, cache) {
    need('cargo')
    const source = join(folder, 'source')
    cpSync(rust.sources, join(source, 'src'), { recursive: true })
    writeFileSync(join(source, 'Cargo.toml'), manifestOf(pinned))
    const env = { CARGO_HOME: join(cache, 'cargo'), CARGO_TARGET_DIR: join(cache, 'cargo-target') }
    download('cargo', ['fetch', '--quiet'], { cwd: source, env })
    run('cargo', ['build', '--quiet', '--offline'], { cwd: source, env })
    mkdirSync(folder, { recursive: true })
    copyFileSync(join(env.CARGO_TARGET_DIR, 'debug/sessions'), join(folder, 'sessions'))
  },
}

function manifestOf(pinned: Pinned): string {
  const dependencies = Object.entries(pinned).map(
    ([crate, version]) =>
      `${crate} = { version = "=${version}", default-features = false, features = ${JSON.stringify(FEATURES[crate] ?? [])} }`,
  )
  return [
    ...['[package]', 'name = "sessions"', 'version = "0.0.0"', 'edition = "2024"', '[dependencies]', ...dependencies],
    ...['[profile.dev]', 'debug = 0', 'incremental = false', ''],
  ].join('\n')
}

export const COMPILED = { go, java, rust } as const
