import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { userEnv } from '../checkout.ts'
import type { Outcomes } from '../outcomes.ts'

/** `npm run release` in a clean checkout: what it makes, and that npm does not publish it. */
export async function release(outcomes: Outcomes, checkout: string): Promise<void> {
  const folder = join(checkout, 'lib/release')
  const run = (words: readonly string[]) =>
    spawnSync('npm', words, { cwd: checkout, encoding: 'utf8', env: userEnv(), maxBuffer: 2 ** 26 })
  const text = (file: string): string => readFileSync(join(folder, file), 'utf8')
  const built = await outcomes.try('npm run release says where the release is, and why it cannot be published', () => {
    const before = readFileSync(join(checkout, 'package.json'), 'utf8')
    const { status, stdout, stderr } = run(['run', '--silent', 'release'])
    assert.equal(status, 0, stdout + stderr)
    const hasEngine = spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0
    assert.match(stdout, /^The release is in .*\n/)
    assert.match(stdout, /\nIt cannot be published, because .*private.* and .*placeholder\.\n$/)
    assert.equal(/\nNo image: .* docker buildx build .*linux\/arm64/.test(stdout), !hasEngine)
    assert.equal(readFileSync(join(checkout, 'package.json'), 'utf8'), before)
    return { hasEngine }
  })
  if (built === undefined) return
  const packed = readdirSync(folder).find(file => file.endsWith('.tgz'))!
  const stem = packed.replace(/\.tgz$/, '')
  const version = stem.replace('interlingua-', '')
  await outcomes.try('it has a package with its parts, a chart, conformance matrix, benchmark and checksums', () => {
    const files = ['SHA256SUMS', packed, `interlingua-chart-${version}.tgz`]
    for (const ending of ['cdx.json', 'provenance.json', 'conformance.json', 'benchmarks.md'])
      files.push(`${stem}.${ending}`)
    if (built.hasEngine) files.push(`${stem}.oci.tar`)
    assert.deepEqual(readdirSync(folder).sort(), files.sort())
    const sums = text('SHA256SUMS').trim().split('\n')
    for (const line of sums) {
      const [sum, file] = line.split('  ') as [string, string]
      assert.equal(
        createHash('sha256')
          .update(readFileSync(join(folder, file)))
          .digest('hex'),
        sum,
      )
    }
    assert.equal(sums.length, files.length - 1)
  })
  await outcomes.try('the list names every package that the package imports', () => {
    const { components } = JSON.parse(text(`${stem}.cdx.json`)) as { components: { 'bom-ref': string }[] }
    const listed = new Set(components.map(one => one['bom-ref']))
    const { dependencies } = manifestOf(join(folder, packed))
    assert.deepEqual(
      Object.entries(dependencies).filter(([name, version]) => !listed.has(`${name}@${version}`)),
      [],
    )
  })
  await outcomes.try('the provenance names the package and the commit', () => {
    const { subject, predicate } = JSON.parse(text(`${stem}.provenance.json`))
    const sha512 = createHash('sha512')
      .update(readFileSync(join(folder, packed)))
      .digest('hex')
    assert.equal(subject[0].digest.sha512, sha512)
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: checkout, encoding: 'utf8' }).trim()
    assert.equal(predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit, commit)
  })
  await outcomes.try('npm refuses to publish it, and sends the registry nothing', () =>
    refused(checkout, join(folder, packed)),
  )
}

/** Publishes a package to a registry on the loopback. A dry run would not do: it refuses nothing. */
export async function refused(checkout: string, file: string): Promise<void> {
  const written: string[] = []
  const registry = createServer((request, response) => {
    if (request.method !== 'GET') written.push(`${request.method} ${request.url}`)
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  try {
    await once(registry, 'listening')
    const address = `127.0.0.1:${(registry.address() as AddressInfo).port}/`
    const flags = [`--registry=http://${address}`, `--//${address}:_authToken=token`, '--provenance=false']
    const published = promisify(execFile)('npm', ['publish', file, ...flags], { cwd: checkout, env: userEnv() })
    await assert.rejects(published, /EPRIVATE/)
    assert.deepEqual(written, [])
  } finally {
    registry.close()
  }
}

interface PackedManifest {
  readonly dependencies: { readonly [name: string]: string }
}

const manifestOf = (file: string): PackedManifest =>
  JSON.parse(execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' })) as PackedManifest
