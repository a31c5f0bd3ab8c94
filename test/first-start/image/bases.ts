import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { programAt, type Tree } from './tree.ts'

/*
 * Base images, made of this machine's Debian packages: the same packages as the images have, in its own release.
 */

/** The user of distroless images. */
const NONROOT = 65532

/** Packages of Debian in distroless/cc (its cc/config.bzl and base/config.bzl, read on 2026-11-28) with libraries. */
const DISTROLESS = ['libc6', 'libgcc-s1', 'libstdc++6', 'libgomp1', 'zlib1g', 'libssl3']

/** Bases by the beginning of their name. */
const BASES: { readonly [image: string]: (tree: Tree, node: string) => void } = {
  'node:': debian,
  'gcr.io/distroless/cc-': distroless,
}

/**
 * Fills a tree with a base image.
 *
 * @param node the program that a base with Node has.
 */
export function fill(tree: Tree, image: string, node: string): void {
  const base = Object.entries(BASES).find(([beginning]) => image.startsWith(beginning))
  if (base === undefined) throw new Error(`there is no base for ${image}`)
  for (const folder of ['proc', 'dev', 'tmp', 'etc', 'usr', 'root']) mkdirSync(join(tree.folder, folder))
  chmodSync(join(tree.folder, 'tmp'), 0o1777)
  for (const folder of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${folder}`, join(tree.folder, folder))
  base[1](tree, node)
}

/** Debian with its programs, and Node with npm in /usr/local. */
function debian(tree: Tree, node: string): void {
  const local = join(tree.folder, 'local')
  mkdirSync(join(local, 'bin'), { recursive: true })
  cpSync(realpathSync(node), join(local, 'bin/node'))
  const npm = realpathSync(programAt('npm'))
  writeFileSync(
    join(local, 'bin/npm'),
    `#!/bin/sh\nexec /usr/local/bin/node /usr/local/npm/bin/${basename(npm)} "$@"\n`,
  )
  chmodSync(join(local, 'bin/npm'), 0o755)
  execFileSync('cp', ['-a', dirname(dirname(npm)), join(local, 'npm')])
  for (const file of ['passwd', 'group', 'resolv.conf', 'hosts', 'nsswitch.conf', 'ssl', 'alternatives', 'ld.so.cache'])
    if (existsSync(join('/etc', file))) execFileSync('cp', ['-aL', join('/etc', file), join(tree.folder, 'etc', file)])
  tree.mounts.push({ from: '/usr', to: '/usr', isReadOnly: true }, { from: local, to: '/usr/local' })
}

/** Libraries, certificates and a user without rights: no program. */
function distroless(tree: Tree): void {
  const files = execFileSync('dpkg', ['-L', ...DISTROLESS], { encoding: 'utf8' })
    .split('\n')
    .filter(path => /\.so(\.|$)/.test(path) && existsSync(path))
  for (const path of new Set(files.map(file => join(realpathSync(dirname(file)), basename(file))))) {
    mkdirSync(join(tree.folder, dirname(path)), { recursive: true })
    execFileSync('cp', ['-a', path, join(tree.folder, path)])
  }
  mkdirSync(join(tree.folder, 'etc/ssl/certs'), { recursive: true })
  const certificates = 'etc/ssl/certs/ca-certificates.crt'
  if (existsSync(`/${certificates}`)) cpSync(`/${certificates}`, join(tree.folder, certificates))
  writeFileSync(
    join(tree.folder, 'etc/passwd'),
    `root:x:0:0::/root:/sbin/nologin\nnonroot:x:${NONROOT}:${NONROOT}::/home/nonroot:/sbin/nologin\n`,
  )
  writeFileSync(join(tree.folder, 'etc/group'), `root:x:0:\nnonroot:x:${NONROOT}:\n`)
  mkdirSync(join(tree.folder, 'home/nonroot'), { recursive: true })
}
