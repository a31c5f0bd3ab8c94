import fc from 'fast-check'
import { expect, it } from 'vitest'
import { channelYaml } from '../../src/config/channel-yaml.ts'
import { readConfig } from '../../src/config/read.ts'
import { isReference, joinSecrets, mapSecrets, splitSecrets } from '../../src/config/secret-fields.ts'
import { checkedChannel } from '../../src/config/stored-channel.ts'
import { writtenChannel } from '../builders/written-channels.ts'

it('the text for the config file makes the same channel, and has no secret', () => {
  fc.assert(
    fc.property(writtenChannel, fc.constantFrom('mine', 'Mine (EU)', '1st', 'ä'), (written, name) => {
      const channel = { ...written, name }
      const { value } = checkedChannel(channel, { env: {}, proxy: undefined })
      const { yaml, variables } = channelYaml(channel)
      const secrets: string[] = []
      mapSecrets(channel, secret => void secrets.push(String(secret)))
      for (const secret of secrets) expect(yaml).not.toContain(secret)
      const env = Object.fromEntries(variables.map((variable, index) => [variable, secrets[index]!]))
      expect(readConfig(yaml, env).channels).toEqual([value])
    }),
  )
})

it('splitting a channel leaves no secret in its settings, and joining gives the channel back', () => {
  fc.assert(
    fc.property(writtenChannel, written => {
      const { settings, secrets } = splitSecrets(written)
      const text = JSON.stringify(settings)
      for (const secret of secrets.values()) expect(text).not.toContain(secret)
      expect(text).not.toContain('planted-')
      expect(joinSecrets(settings, secrets)).toEqual({ channel: written, faults: [] })
      const again = splitSecrets(written, secrets)
      expect(again.settings).toEqual(settings)
      let references = 0
      mapSecrets(settings, one => void expect(isReference(one)).toBe(references++ >= 0))
      expect(joinSecrets(settings, new Map()).faults).toHaveLength(references)
    }),
  )
})
