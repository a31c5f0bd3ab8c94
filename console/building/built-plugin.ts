import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib'
import type { Plugin } from 'vite'
import { BUILT, sourcesHash } from './sources.ts'

/** Files worth compressing. Images and fonts already are compressed. */
const TEXT = /\.(?:html|js|css|svg|json)$/

/** Vite plugin: adds a gzip and a Brotli copy of each text file, and the file with the hash of the sources. */
export const built = (): Plugin => {
  let out = ''
  return {
    name: 'built',
    apply: 'build',
    configResolved({ root, build }) {
      out = resolve(root, build.outDir)
    },
    closeBundle() {
      for (const name of globSync('**/*', { cwd: out }).filter(name => TEXT.test(name))) {
        const bytes = readFileSync(join(out, name))
        writeFileSync(join(out, `${name}.gz`), gzipSync(bytes, { level: 9 }))
        const params = { [zlib.BROTLI_PARAM_QUALITY]: 11, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length }
        writeFileSync(join(out, `${name}.br`), brotliCompressSync(bytes, { params }))
      }
      writeFileSync(join(out, BUILT), sourcesHash())
    },
  }
}
