package io.mortise.spring;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.scope.ScopedObject;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Checks all beans once they are created, before schedulers begin: parses each locked method, and
 * ensures that its calls pass the proxy.
 */
final class LockedStartupCheck implements SmartInitializingSingleton {
  private static final Logger log = LoggerFactory.getLogger(LockedStartupCheck.class);

  private final ConfigurableListableBeanFactory beans;
  private final LockedMethods methods;

  LockedStartupCheck(ConfigurableListableBeanFactory beans, LockedMethods methods) {
    this.beans = beans;
    this.methods = methods;
  }

  @Override
  public void afterSingletonsInstantiated() {
    Set<String> problems = new LinkedHashSet<>();
    for (String bean : beans.getBeanNamesForType(Object.class)) {
      try {
        Class<?> type = AutoProxyUtils.determineTargetClass(beans, bean);
        // Behind a scoped proxy there is another bean, which is checked in its turn.
        if (type != null
            && !ScopedObject.class.isAssignableFrom(type)
            && AnnotationUtils.isCandidateClass(type, Locked.class)) {
          check(bean, type, problems);
        }
      } catch (LinkageError | TypeNotPresentException e) {
        // A lazy bean without its library, which cannot be called either.
        log.debug("Bean '{}' was not looked at for @Locked.", bean, e);
      }
    }
    if (!problems.isEmpty()) {
      throw new InvalidLockedMethodException(List.copyOf(problems));
    }
  }

  private void check(String bean, Class<?> type, Set<String> problems) {
    Set<Method> locked =
        MethodIntrospector.selectMethods(type, (Method method) -> methods.isLocked(method, type));
    if (locked.isEmpty()) {
      return;
    }
    int before = problems.size();
    for (Method method : locked) {
      try {
        LockedMethod unused = methods.of(method, type);
      } catch (InvalidLockedMethodException e) {
        problems.addAll(e.problems());
      }
    }
    if (problems.size() == before) {
      methods.destroyBeforeClient(bean, locked);
      Object made = beans.containsSingleton(bean) ? beans.getSingleton(bean) : null;
      if (made != null && !(made instanceof FactoryBean) && !isMock(made)) {
        checkProxy(bean, made, type, locked, problems);
      }
    }
  }

  private static void checkProxy(
      String bean, Object made, Class<?> type, Set<Method> locked, Set<String> problems) {
    if (!AopUtils.isAopProxy(made)) {
      problems.add(
          "Bean '"
              + bean
              + "' has methods with @Locked and no proxy, so that they would run without their lock:"
              + " it was made before proxies are, for a BeanPostProcessor or another early bean that"
              + " needs it. Ask for it later there, by an ObjectProvider or @Lazy.");
      return;
    }
    if (made instanceof Advised advised
        && Arrays.stream(advised.getAdvisors()).noneMatch(LockedAdvisor.class::isInstance)) {
      problems.add(
          "Bean '"
              + bean
              + "' has methods with @Locked, and a proxy that does not know of it. Put @EnableMortise"
              + " into the context that defines the bean.");
      return;
    }
    if (!AopUtils.isJdkDynamicProxy(made)) {
      return;
    }
    for (Method method : locked) {
      if (!isCallable(method, type, made)) {
        problems.add(
            "@Locked on "
                + method.getDeclaringClass().getSimpleName()
                + "."
                + method.getName()
                + " cannot work: bean '"
                + bean
                + "' is a proxy of interfaces that lack the method. Add it to an interface, or set"
                + " @EnableMortise(proxyTargetClass = true).");
      }
    }
  }

  /**
   * Whether an interface of the proxy leads to the method. Compared from the interfaces: a generic
   * one has other parameter types than the method.
   */
  private static boolean isCallable(Method method, Class<?> type, Object proxy) {
    return Arrays.stream(proxy.getClass().getInterfaces())
        .flatMap(each -> Arrays.stream(each.getMethods()))
        .anyMatch(each -> AopUtils.getMostSpecificMethod(each, type).equals(method));
  }

  /** Whether a test has replaced the bean by a mock, which runs nothing. */
  private static boolean isMock(Object bean) {
    Class<?> mockito = mockito(bean);
    Method details =
        mockito == null
            ? null
            : ReflectionUtils.findMethod(mockito, "mockingDetails", Object.class);
    Object found = details == null ? null : ReflectionUtils.invokeMethod(details, null, bean);
    Method asked = found == null ? null : ReflectionUtils.findMethod(found.getClass(), "isMock");
    return asked != null && Boolean.TRUE.equals(ReflectionUtils.invokeMethod(asked, found));
  }

  private static @Nullable Class<?> mockito(Object bean) {
    String name = "org.mockito.Mockito";
    ClassLoader loader = bean.getClass().getClassLoader();
    return ClassUtils.isPresent(name, loader) ? ClassUtils.resolveClassName(name, loader) : null;
  }
}
