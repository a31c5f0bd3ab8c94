import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Architectures of the image. */
export const PLATFORMS = ['linux/amd64', 'linux/arm64'] as const

/** A file of a release beside the package, or a sentence that says why there is none. */
export type Supplement = { readonly file: string } | { readonly missing: string }

/** Packs the chart of Helm. Equal charts are equal files. */
export function chart(root: string, folder: string, version: string): Supplement {
  const file = `interlingua-chart-${version}.tgz`
  const plain = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=2000-01-01']
  execFileSync('tar', ['-czf', join(folder, file), ...plain, '-C', join(root, 'deploy/helm'), 'interlingua'])
  return { file }
}

/** Copies the conformance matrix and the benchmark. Returns sentences about figures of another version, too. */
export function figures(root: string, folder: string, version: string): readonly Supplement[] {
  const matrix = `interlingua-${version}.conformance.json`
  const benchmark = `interlingua-${version}.benchmarks.md`
  copyFileSync(join(root, 'docs/conformance.json'), join(folder, matrix))
  copyFileSync(join(root, 'docs/benchmarks.md'), join(folder, benchmark))
  const measured = versionOfMatrix(readFileSync(join(folder, matrix), 'utf8'))
  const old =
    measured === version
      ? []
      : [
          {
            missing: `The conformance matrix is of ${measured}: interlingua conformance matrix --json docs/conformance.json`,
          },
        ]
  return [{ file: matrix }, { file: benchmark }, ...old]
}

/** Version of this gateway in a conformance matrix. */
export function versionOfMatrix(text: string): string {
  const { peers } = JSON.parse(text) as {
    readonly peers: readonly { readonly name: string; readonly version: string }[]
  }
  return peers.find(({ name }) => name === 'interlingua')?.version ?? 'no version'
}

/** Builds the image for every architecture, if a container engine runs. */
export function image(root: string, folder: string, version: string): Supplement {
  const file = `interlingua-${version}.oci.tar`
  const words = ['buildx', 'build', '--platform', PLATFORMS.join(','), '--tag', `interlingua:${version}`]
  const command = [...words, '--output', `type=oci,dest=${join(folder, file)}`, root]
  if (spawnSync('docker', ['info'], { stdio: 'ignore' }).status !== 0)
    return { missing: `No image: no container engine runs here. To build it: docker ${command.join(' ')}` }
  execFileSync('docker', command, { stdio: 'inherit' })
  return { file }
}
