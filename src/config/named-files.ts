import { PEM, type WrittenChannel } from './channel.ts'
import { type Env, variableIn } from './variable.ts'

/**
 * Returns the files whose content is part of a config: certificates, their keys, and key files of service accounts.
 * Other files of credentials are read again whenever they are needed.
 */
export function credentialFilesOf(channels: readonly WrittenChannel[] = [], env: Env): readonly string[] {
  const files = channels.flatMap(({ tls = {}, auth }) => [
    ...Object.values(tls).filter(file => file !== undefined && !file.startsWith(PEM)),
    ...(auth?.type === 'google-service-account' && auth.account === undefined
      ? [auth.file ?? variableIn(env, 'GOOGLE_APPLICATION_CREDENTIALS')]
      : []),
  ])
  return [...new Set(files.filter(file => file !== undefined).filter(Boolean))]
}
