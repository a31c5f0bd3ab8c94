import { buildIfStale } from '../../console/building/build.ts'
import type { Config } from '../../src/config/index.ts'
import { AdminServer } from '../builders/admin.ts'
import { openDemo } from '../builders/demo.ts'

/** A gateway with the built-in upstream, a store, and the console built from the current sources. */
export interface ConsoleGateway {
  readonly admin: AdminServer
  readonly address: string
  close(): Promise<void>
}

export async function openConsoleGateway(config: Partial<Config> = {}): Promise<ConsoleGateway> {
  await buildIfStale()
  const replay = await openDemo()
  const admin = await AdminServer.open(replay.channels, { usage: { retention: 90 * 86_400_000 }, ...config }).catch(
    async fault => {
      await replay.close()
      throw fault
    },
  )
  return {
    admin,
    address: admin.testServer.server.address,
    close: async () => {
      await admin.close()
      await replay.close()
    },
  }
}
