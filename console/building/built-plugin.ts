import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib'
import type { Plugin } from 'vite'
import { BUILT, sourcesHash } from './sources.ts'

/** Files worth compressing. Images and fonts already are compressed. */
const TEXT = /\.(?:html|js|css|svg|json)$/

/** The font's first file, which every page needs. */
const FONT = /inter-latin-wght-normal.*\.woff2$/
/** Licence of the font, which must accompany its files. */
const LICENCE = 'node_modules/@fontsource-variable/inter/LICENSE'

/**
 * Vite plugin: preloads the font, adds its licence, a gzip and a Brotli copy of each text file, and the file with the
 * hash of the sources.
 */
export const built = (): Plugin => {
  let out = ''
  return {
    name: 'built',
    apply: 'build',
    configResolved({ root, build }) {
      out = resolve(root, build.outDir)
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_, { bundle = {} }) =>
        Object.keys(bundle)
          .filter(name => FONT.test(name))
          .map(name => ({
            tag: 'link',
            attrs: { rel: 'preload', as: 'font', type: 'font/woff2', crossorigin: '', href: `/console/${name}` },
            injectTo: 'head',
          })),
    },
    closeBundle() {
      copyFileSync(join(import.meta.dirname, '../..', LICENCE), join(out, 'assets/inter-LICENSE.txt'))
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
