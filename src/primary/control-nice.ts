/** Nice value of the control plane's pool threads: they stand back behind the workers' loops (on Linux it is per thread). */
export const CONTROL_NICE = 10;
