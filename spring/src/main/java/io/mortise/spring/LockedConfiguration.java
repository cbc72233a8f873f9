package io.mortise.spring;

import java.util.Map;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * The beans behind {@link EnableMortise}. Methods are static and ask for no bean of the user's, so
 * that none is made before its time.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class LockedConfiguration {
  private static final String TRANSACTION_ADVISOR = "mortiseLockedTransactionAdvisor";

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedMethods mortiseLockedMethods(
      ConfigurableListableBeanFactory beans, Environment environment) {
    return new LockedMethods(new LockedMethodParser(beans, environment));
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedAdvisor mortiseLockedAdvisor(LockedMethods methods, Environment environment) {
    return LockedAdvisor.outside(
        methods,
        environment.getProperty(
            "mortise.locked.order", Integer.class, LockedAdvisor.OUTSIDE_OF_TRANSACTIONS));
  }

  /**
   * Registers the advisor behind that of transactions, once all configurations have registered
   * theirs: advisors of one order stand in the order of their registration.
   */
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static BeanDefinitionRegistryPostProcessor mortiseTransactionAdvisorRegistrar() {
    return registry -> {
      if (LockedMethodParser.HAS_REACTIVE_TRANSACTIONS
          && !registry.containsBeanDefinition(TRANSACTION_ADVISOR)) {
        RootBeanDefinition definition = new RootBeanDefinition(LockedAdvisor.class);
        definition.setFactoryMethodName("inside");
        definition.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
        definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
        registry.registerBeanDefinition(TRANSACTION_ADVISOR, definition);
      }
    };
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedStartupCheck mortiseLockedStartupCheck(
      ConfigurableListableBeanFactory beans, LockedMethods methods) {
    return new LockedStartupCheck(beans, methods);
  }

  /** Sees to a proxy creator; one that is there already stays. */
  static final class ProxyCreatorRegistrar implements ImportBeanDefinitionRegistrar {
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
}
