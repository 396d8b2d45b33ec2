/**
 * GatewayClass (gateway.networking.k8s.io): which controller serves the Gateways of a class.
 */
import { group, kindName, namespaceName } from './references.js';
import { type Infer, object, optional, string } from './schema.js';

export const parametersReference = object('a WeirgateConfig with the settings of the class', {
  group,
  kind: kindName,
  name: string('name of the object', { minLength: 1, maxLength: 253 }),
  namespace: optional(namespaceName),
});
export type ParametersReference = Infer<typeof parametersReference>;

export const gatewayClassSpec = object('what serves the class', {
  controllerName: string('the controller; ours is weirgate.dev/gateway-controller', {
    minLength: 1,
    maxLength: 253,
    format: 'controllerName',
  }),
  parametersRef: optional(parametersReference),
  description: optional(string('for people, up to 64 characters', { maxLength: 64 })),
});
export type GatewayClassSpec = Infer<typeof gatewayClassSpec>;
