/** `batch`: the maximum number of inputs of one embedding request; the gateway splits larger ones. */
export const FLAGS = ['batch'] as const
