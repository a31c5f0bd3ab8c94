import { existsSync, readFileSync } from 'node:fs'
import { type Config, ConfigError, defaultConfig, readConfig } from './index.ts'
import { type Env, readSource, saysNothing } from './source.ts'
import { watchPath } from './watch.ts'

/** Where a config is looked for when no file is named. */
const USUAL = ['interlingua.yaml', 'interlingua.yml', 'interlingua.json']

/** The config file to use: the one named, else the first of the usual ones that is there; undefined for none. */
export const findConfig = (named?: string): string | undefined => named ?? USUAL.find(path => existsSync(path))

/**
 * Reads a config file, or makes the config of a gateway that has none.
 *
 * @throws ConfigError, also where the file cannot be read.
 */
export function loadConfig(path: string | undefined, env: Env = process.env): Config {
  return path === undefined ? defaultConfig(env) : readConfig(textOf(path), env, path)
}

/** As `loadConfig`, where another config is in use: a file that says nothing is one that is not written yet. */
function reloadConfig(path: string, env: Env): Config {
  const text = textOf(path)
  if (saysNothing(readSource(text, env))) throw new ConfigError([{ path: '', message: 'is empty' }], path)
  return readConfig(text, env, path)
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
 * Tells of every new config a file comes to hold, and of everything that keeps the old one in use: faults, an empty
 * file, none.
 */
export function followConfig(
  path: string | undefined,
  onChange: (config: Config) => void,
  onFault: (fault: Error) => void,
  env: Env = process.env,
): Following {
  const reload = (): void => {
    let config: Config
    try {
      config = path === undefined ? loadConfig(path, env) : reloadConfig(path, env)
    } catch (thrown) {
      onFault(thrown as Error)
      return
    }
    onChange(config)
  }
  const unwatch = path === undefined ? () => {} : watchPath(path, reload)
  return { reload, close: unwatch }
}
