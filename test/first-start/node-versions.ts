import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { userEnv } from './checkout.ts'

/** Returns the folder of a version's program, for example of `20`. Undefined if it cannot be had here. */
export type NodeVersions = (version: string) => string | undefined

/** A user's environment in which the Node of this folder comes first. */
export const envWith = (home: string, node: string | undefined): NodeJS.ProcessEnv => {
  const env = userEnv(home)
  return node === undefined ? env : { ...env, PATH: `${node}:${env['PATH']}` }
}

/** Installs a version of Node from npm, and returns the folder of its program. Undefined if it cannot be had here. */
export const nodesOf = (folder: string): NodeVersions => {
  const found = new Map<string, string | undefined>()
  return (version: string): string | undefined => {
    if (!found.has(version)) found.set(version, nodeOf(folder, version))
    return found.get(version)
  }
}

function nodeOf(folder: string, version: string): string | undefined {
  const home = join(folder, `node-${version}`)
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{"private":true}')
  const name = `node-${process.platform}-${process.arch}`
  try {
    execFileSync('npm', ['install', '--no-audit', '--no-fund', `${name}@${version}`], { cwd: home, stdio: 'ignore' })
    const bin = join(home, 'node_modules', name, 'bin')
    return execFileSync(join(bin, 'node'), ['--version'], { encoding: 'utf8' }).startsWith(`v${version}.`)
      ? bin
      : undefined
  } catch {
    return undefined
  }
}
