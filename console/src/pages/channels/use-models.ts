import { get } from '../../api/request.ts'
import type { AllOf, Model } from '../../api/types.ts'
import { type Loaded, useLoad } from '../../api/use-load.ts'

/** The models that a channel has, with all the channels each has. */
export const useModelsOf = (channel: string): Loaded<readonly Model[]> =>
  useLoad(
    async signal => {
      const { data } = await get<AllOf<Model>>('/models', {}, signal)
      return data.filter(({ channels }) => channels.some(({ name }) => name === channel))
    },
    [channel],
  )
