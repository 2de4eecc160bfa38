import { expect, it } from '@jest/globals';
import { createMatchConditions, matchConditionProblem } from './match-condition.ts';

const pod = {
  metadata: { name: 'web', ownerReferences: [{ kind: 'DaemonSet' }], annotations: { 'a.b/c': 'x' } },
  spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] },
};
const reviewed = { object: pod, oldObject: null, request: { operation: 'CREATE', userInfo: { username: 'me' } } };

it.each([
  ['object.metadata.name == "web"', true],
  ['!has(object.spec.nodeName) || object.spec.nodeName == ""', true],
  [
    '!(has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, o.kind == "DaemonSet"))',
    false,
  ],
  ['has(object.metadata.annotations) && "a.b/c" in object.metadata.annotations', true],
  ['object.spec.containers.all(c, c.ports.all(p, p.containerPort < 1024))', true],
  ['request.userInfo.username.startsWith("system:")', false],
  ['oldObject == null', true],
  ['request.operation in ["CREATE", "UPDATE"]', true],
  ['object.?spec.?nodeName.orValue("none") == "none"', true],
])('evaluates %s to %s', (expression, expected) => {
  const holds = createMatchConditions();

  expect(matchConditionProblem(expression)).toBeUndefined();
  expect(holds(expression, reviewed)).toBe(expected);
});

it.each([
  ['x', "compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^"],
  ['1', 'must evaluate to bool but got int'],
  ['authorizer.group("").check("get").allowed()', 'the sandbox does not serve "authorizer" in match conditions'],
])('refuses %s at registration', (expression, problem) => {
  expect(matchConditionProblem(expression)).toBe(problem);
});

it('throws when a condition cannot be decided', () => {
  const holds = createMatchConditions();

  expect(() => holds('object.spec.nodeName == "a"', reviewed)).toThrow('No such key: nodeName');
});
