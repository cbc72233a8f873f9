package io.mortise.spring;

import java.util.Map;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;

/** Sees to a proxy creator; one that is there already stays. */
final class LockedRegistrar implements ImportBeanDefinitionRegistrar {
  @Override
  public void registerBeanDefinitions(
      AnnotationMetadata importing, BeanDefinitionRegistry registry) {
    AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
    Map<String, Object> enabled =
        importing.getAnnotationAttributes(EnableMortise.class.getName(), false);
    if (enabled != null && Boolean.TRUE.equals(enabled.get("proxyTargetClass"))) {
      AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
    }
  }
}
