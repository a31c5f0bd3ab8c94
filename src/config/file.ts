import { existsSync, statSync } from 'node:fs'
import { type Config, ConfigError } from './index.ts'
import { defaultConfig, readConfig } from './read.ts'
import { isEmpty, readSource } from './source.ts'
import { readTextFile } from './text-file.ts'
import type { Env } from './variable.ts'
import { watchPath } from './watch.ts'

/** Config files to look for if no path is given. */
const DEFAULT_PATHS = ['interlingua.yaml', 'interlingua.yml', 'interlingua.json']

/**
 * Returns the path of the config file: the given path, else the first default path that exists, or undefined if there
 * is none.
 */
export const findConfig = (givenPath?: string): string | undefined =>
  givenPath ?? DEFAULT_PATHS.find(path => existsSync(path))

/**
 * Reads a config file. Without a path, returns the default config.
 *
 * @throws ConfigError if the file is invalid or cannot be read.
 */
export function loadConfig(path: string | undefined, env: Env = process.env): Config {
  return loadFile(path, undefined, env).config
}

/** A config with its source text. The text is undefined if there is no file. */
export interface LoadedFile {
  readonly config: Config
  readonly text: string | undefined
}

/** Like `loadConfig`, but does not parse the file again if its text has not changed. */
export function loadFile(path: string | undefined, before?: LoadedFile, env: Env = process.env): LoadedFile {
  const text = path === undefined ? undefined : readText(path)
  if (before !== undefined && before.text === text) return before
  return { text, config: text === undefined ? defaultConfig(env) : readConfig(text, env, path) }
}

/**
 * Like `loadFile`, but for a config that is already in use. Rejects an empty file, because an editor may still be
 * writing it. Rejects pipes and devices, because reading them may take for ever.
 */
function reloadFile(path: string, env: Env): LoadedFile {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new ConfigError([{ path: '', message: 'is no regular file' }], path)
  const text = readText(path)
  if (isEmpty(readSource(text, env))) throw new ConfigError([{ path: '', message: 'is empty' }], path)
  return { text, config: readConfig(text, env, path) }
}

function readText(path: string): string {
  try {
    return readTextFile(path)
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException
    throw new ConfigError([{ path: '', message: `cannot be read: ${code ?? message}` }], path)
  }
}

export interface ConfigWatch {
  /** Reads the file again, even if its text has not changed. */
  reload(): void
  /** Also watches the files of credentials of the config in use. Those of later configs are watched in their place. */
  follow(config: Config): void
  close(): void
}

/** Delay before changed files of credentials are read, in milliseconds. A renewal replaces them one after the other. */
const SETTLE_TIME = 1000

/** Watches a changing set of files, and reports changes once no file has changed for a while. */
class FileSet {
  private readonly onChange: () => void
  private readonly watches = new Map<string, () => void>()
  private settleTimer: NodeJS.Timeout | undefined

  constructor(onChange: () => void) {
    this.onChange = onChange
  }

  /** Watches these files in place of the earlier ones. */
  set(files: readonly string[]): void {
    const wanted = new Set(files)
    for (const [file, unwatch] of this.watches)
      if (!wanted.has(file)) {
        unwatch()
        this.watches.delete(file)
      }
    for (const file of wanted)
      if (!this.watches.has(file))
        this.watches.set(
          file,
          watchPath(file, () => this.scheduleReport()),
        )
  }

  close(): void {
    clearTimeout(this.settleTimer)
    this.set([])
  }

  private scheduleReport(): void {
    clearTimeout(this.settleTimer)
    this.settleTimer = setTimeout(this.onChange, SETTLE_TIME)
    this.settleTimer.unref()
  }
}

/**
 * Watches a config file, and the files of credentials that it names. Reports every new config. If a file is invalid,
 * empty or missing, reports the faults, and the old config stays in use.
 */
export function watchConfig(
  path: string | undefined,
  onChange: (config: Config, text: string | undefined) => void,
  onFault: (fault: Error) => void,
  env: Env = process.env,
): ConfigWatch {
  const reload = (): void => {
    let loaded: LoadedFile
    try {
      loaded = path === undefined ? loadFile(path, undefined, env) : reloadFile(path, env)
    } catch (thrown) {
      onFault(thrown as Error)
      return
    }
    files.set(loaded.config.credentialFiles)
    onChange(loaded.config, loaded.text)
  }
  const files = new FileSet(reload)
  const unwatch = path === undefined ? () => {} : watchPath(path, reload)
  return {
    reload,
    follow: ({ credentialFiles }) => files.set(credentialFiles),
    close: () => {
      unwatch()
      files.close()
    },
  }
}
