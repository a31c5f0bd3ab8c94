import { defineConfig } from 'vite'
import { built } from './building/built-plugin.ts'

/** Gateway that `npm run console:dev` proxies API calls to. */
const GATEWAY = process.env['INTERLINGUA'] ?? 'http://127.0.0.1:4747'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [built()],
  build: {
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The content security policy forbids inline scripts and data URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/admin': GATEWAY, '/v1': GATEWAY, '/v1beta': GATEWAY } },
})
