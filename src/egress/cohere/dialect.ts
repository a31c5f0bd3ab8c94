/** `batch`: the most inputs one request for vectors may have; the gateway splits what has more. */
export const FLAGS = ['batch'] as const
