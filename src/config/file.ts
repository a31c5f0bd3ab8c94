import { existsSync, readFileSync } from 'node:fs'
import { type Config, ConfigError } from './index.ts'
import { defaultConfig, readConfig } from './read.ts'
import { type Env, isEmpty, readSource } from './source.ts'
import { watchPath } from './watch.ts'

/** The config files to look for when none is named. */
const DEFAULT_PATHS = ['interlingua.yaml', 'interlingua.yml', 'interlingua.json']

/** The config file to use: the named one, else the first of the usual ones that exists; undefined for none. */
export const findConfig = (named?: string): string | undefined => named ?? DEFAULT_PATHS.find(path => existsSync(path))

/**
 * Reads a config file, or makes the default config where there is none.
 *
 * @throws ConfigError, also where the file cannot be read.
 */
export function loadConfig(path: string | undefined, env: Env = process.env): Config {
  return loadFile(path, undefined, env).config
}

/** A config and the text it was read from; undefined where there is no file. */
export interface LoadedFile {
  readonly config: Config
  readonly text: string | undefined
}

/** As `loadConfig`; a file with the same text as before is not parsed again. */
export function loadFile(path: string | undefined, before?: LoadedFile, env: Env = process.env): LoadedFile {
  const text = path === undefined ? undefined : textOf(path)
  if (before !== undefined && before.text === text) return before
  return { text, config: text === undefined ? defaultConfig(env) : readConfig(text, env, path) }
}

/** As `loadFile`, where another config is in use: an empty file is one that is not written yet. */
function reloadFile(path: string, env: Env): LoadedFile {
  const text = textOf(path)
  if (isEmpty(readSource(text, env))) throw new ConfigError([{ path: '', message: 'is empty' }], path)
  return { text, config: readConfig(text, env, path) }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    throw new ConfigError([{ path: '', message: `cannot be read: ${(thrown as NodeJS.ErrnoException).code}` }], path)
  }
}

export interface Following {
  /** Reads the file now, changed or not. */
  reload(): void
  close(): void
}

/**
 * Reports every new config of a file, and every fault that keeps the old one in use: an invalid file, an empty one, or
 * none.
 */
export function followConfig(
  path: string | undefined,
  onChange: (config: Config, text: string | undefined) => void,
  onFault: (fault: Error) => void,
  env: Env = process.env,
): Following {
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
