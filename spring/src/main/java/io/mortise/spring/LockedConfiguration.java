package io.mortise.spring;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * The beans behind {@link EnableMortise}. Methods are static and ask for no bean of the user's, so
 * that none is made before its time.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class LockedConfiguration {
  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedMethods mortiseLockedMethods(
      ConfigurableListableBeanFactory beans, Environment environment) {
    return new LockedMethods(new LockedMethodParser(beans, environment));
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedAdvisor mortiseLockedAdvisor(LockedMethods methods, Environment environment) {
    return new LockedAdvisor(
        methods,
        environment.getProperty(
            "mortise.locked.order", Integer.class, LockedAdvisor.OUTSIDE_OF_TRANSACTIONS));
  }

  @Bean
  @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
  static LockedStartupCheck mortiseLockedStartupCheck(
      ConfigurableListableBeanFactory beans, LockedMethods methods) {
    return new LockedStartupCheck(beans, methods);
  }
}
