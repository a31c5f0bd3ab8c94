import { get } from '../../api/request.ts'
import type { AllOf, Model } from '../../api/types.ts'
import { type Loaded, useLoad } from '../../api/use-load.ts'

/** Hook that loads the models a channel serves. Each model lists all its channels. */
export const useModelsOf = (channel: string): Loaded<readonly Model[]> =>
  useLoad(
    async signal => {
      const { data } = await get<AllOf<Model>>('/models', {}, signal)
      return data.filter(({ channels }) => channels.some(({ name }) => name === channel))
    },
    [channel],
  )
