import { existsSync, readFileSync, statSync } from 'node:fs'
import { type Config, ConfigError } from './index.ts'
import { defaultConfig, readConfig } from './read.ts'
import { isEmpty, readSource } from './source.ts'
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
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    throw new ConfigError([{ path: '', message: `cannot be read: ${(thrown as NodeJS.ErrnoException).code}` }], path)
  }
}

export interface ConfigWatch {
  /** Reads the file again, even if its text has not changed. */
  reload(): void
  close(): void
}

/**
 * Watches a config file. Reports every new config. If the file is invalid, empty or missing, reports the faults, and
 * the old config stays in use.
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
    onChange(loaded.config, loaded.text)
  }
  const unwatch = path === undefined ? () => {} : watchPath(path, reload)
  return { reload, close: unwatch }
}
