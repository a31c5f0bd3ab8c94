import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { clientAccess, curlOf } from '../../src/commands/client-access.ts'
import { exampleLines } from '../../src/commands/examples.ts'
import { readConfig } from '../../src/config/read.ts'
import { Certificates, hasOpenssl } from '../builders/certificate.ts'
import { closingAfterEach } from '../builders/closing.ts'

const closing = closingAfterEach()

const configWith = (cert: string, more = '') => readConfig(`server: { tls: { cert: ${cert}, key: k.pem }${more} }`, {})

test('without TLS requests go to where it listens', () => {
  expect(clientAccess('http://127.0.0.1:1', readConfig('{}', {}))).toEqual({ address: 'http://127.0.0.1:1' })
})

test('a certificate that cannot be read is not given to clients', () => {
  expect(clientAccess('https://127.0.0.1:1', configWith('none.pem'))).toEqual({ address: 'https://127.0.0.1:1' })
})

describe.skipIf(!hasOpenssl)('a certificate that signed itself', () => {
  function certificate(name: string, names?: string) {
    const made = new Certificates()
    closing.push(() => made.close())
    return made.make(name, names)
  }

  test('is given to curl, whose request then succeeds', async () => {
    const { cert, key } = certificate("it's")
    const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (_, response) => {
      response.end('here')
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => server.close())
    const address = `https://127.0.0.1:${(server.address() as { readonly port: number }).port}`
    const way = clientAccess(address, configWith(JSON.stringify(cert)))
    expect(way).toEqual({ address, certificate: cert })
    const [line] = exampleLines({ ...way, key: 'k', channels: [] })
    const { stdout } = await promisify(execFile)('sh', ['-c', line!])
    expect(stdout).toBe('here')
  })

  test('for another name of the loopback is asked by that name', () => {
    const { cert } = certificate('named', 'DNS:localhost')
    expect(clientAccess('https://127.0.0.1:9', configWith(cert)).address).toBe('https://localhost:9')
    expect(clientAccess('https://192.0.2.1:9', configWith(cert)).address).toBe('https://192.0.2.1:9')
    const both = certificate('both', 'DNS:localhost,IP:127.0.0.1')
    expect(clientAccess('https://127.0.0.1:9', configWith(both.cert)).address).toBe('https://127.0.0.1:9')
  })

  test('is given where requests go to a public URL, too', () => {
    const { cert } = certificate('public', 'DNS:ai.example.org')
    const way = clientAccess('https://0.0.0.0:9', configWith(cert, ', public_url: "https://ai.example.org"'))
    expect(way.address).toBe('https://ai.example.org')
    expect(curlOf(way)).toBe(`curl -s --cacert '${cert}'`)
  })
})
